// Puts the packages of package-lock.json into node_modules where there is no npm: those that are needed, checked
// against their hashes, no scripts run. Platform packages are left out: our own program takes their place.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const registry = 'https://registry.npmjs.org';
const { packages } = JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));

async function fetchPackage(place, { version, integrity, resolved }) {
	const name = place.split('node_modules/').at(-1);
	const url = resolved ?? `${registry}/${name}/-/${path.basename(name)}-${version}.tgz`;
	const answer = await fetch(url, { signal: AbortSignal.timeout(20_000) });
	if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
	const archive = Buffer.from(await answer.arrayBuffer());
	const [algorithm, digest] = integrity.split(/-(.*)/s);
	if (createHash(algorithm).update(archive).digest('base64') !== digest) throw new Error(`${url}: wrong hash`);
	const target = path.join(folder, place);
	fs.rmSync(target, { recursive: true, force: true });
	fs.mkdirSync(target, { recursive: true });
	execFileSync('tar', ['-xz', '--strip-components=1', '-C', target], { input: archive });
}

const wanted = Object.entries(packages).filter(([place, about]) => place && !about.optional);
const isNested = ([place]) => place.lastIndexOf('node_modules/') > 0; // within a package that must be there before
for (const group of [wanted.filter((it) => !isNested(it)), wanted.filter(isNested)])
	await Promise.all(group.map(([place, about]) => fetchPackage(place, about)));
