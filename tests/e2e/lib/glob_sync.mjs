// `node --import glob_sync.mjs`: gives programs on Node 20 the fs.globSync that they import and do not need here.

import fs from 'node:fs';
import { register } from 'node:module';

const FS = 'export * from "node:fs"; export const globSync = () => [];';
const hook = `export const resolve = (name, context, next) => (name === 'fs'
	? { shortCircuit: true, url: 'data:text/javascript,' + ${JSON.stringify(encodeURIComponent(FS))} }
	: next(name, context));`;
if (!fs.globSync) register(`data:text/javascript,${encodeURIComponent(hook)}`);
