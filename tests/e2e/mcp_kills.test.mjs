// No process of an MCP server survives the engine, however it ends; `./dev kills mcp` does the same a thousand times.

import test from 'node:test';

import { needs } from './lib/codex.mjs';
import { killOnce } from './lib/mcp_kills.mjs';

for (let seed = 1; seed <= 8; seed++)
	test(`interrupted and killed at random moments (seed ${seed}): no process is left`, needs('acp'), (t) => killOnce(t, seed));
