// The terminal shows subagents: one takes the place of the main thread, live, and gets messages there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';

import { makeHome, needs, reply, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n[features]\nmulti_agent = true\n';
const idle = (term) => term.untilGone(/esc to interrupt/);
const LEFT = '\x1b[D', ALT_LEFT = '\x1b[1;3D', ALT_RIGHT = '\x1b[1;3C';
const child = (contains, ...steps) => ({ when: { contains, lacks: 'rootword' }, reply: steps });
const spawns = reply({ call: 'spawn_agent', arguments: { message: 'count pears' } });

/** A terminal in whose session a subagent has begun. */
async function spawned(t, script, more = {}) {
	const model = await startModel(t, script);
	const term = await startReady(t, model, more.args ?? [], { config, ...more });
	await enter(term, 'rootword');
	await term.until(/^• Spawned /m);
	return { model, term };
}

test('a subagent is watched live: what it did, what streams, and the way back', options, async (t) => {
	const { model, term } = await spawned(t, [
		child('count pears', { delta: 'Three and ' }, { gate: 'a' }, { delta: 'four.' }, { message: 'Three and four.' }),
		spawns, say('Asked.')]);
	await term.until(/^• Asked\.$/m);
	term.type(LEFT);
	await term.until(/^Subagents\n\n?› 1\. Main \[default\] \(current\)\n {2}2\. \S+ .*[0-9a-f-]{36}/m);
	term.type('2');
	await term.until(/• Watching \S+ \([0-9a-f-]{36}\)[^]*› count pears[^]*esc to interrupt[^]*Watching \S+ \(alt-left/);
	await model.openGate('a');
	await term.until(/Watching[^]*four\.[^]*^›$/m);
	await idle(term);
	term.type(ALT_RIGHT);
	await term.until(/• Main thread/);
	await term.untilGone(/Watching \S+ \(alt/);
	assert.equal(term.lines().filter((line) => line === '• Asked.').length, 1);
	term.type(ALT_LEFT);
	await term.until(/Watching \S+ \(alt/);
	term.type('\x1b');
	await term.untilGone(/Watching \S+ \(alt/);
	assert.equal(term.lines().filter((line) => line === '› count pears').length, 1);
	await leave(term);
});

test('a resumed session shows that a subagent began, its name and its prompt', options, async (t) => {
	const model = await startModel(t, [child('count pears', { message: 'Seven.' }), spawns, say('Asked.')]);
	const home = makeHome(t, model, config), cwd = tempDir(t, 'cwd');
	const first = await startReady(t, model, [], { home, cwd });
	await enter(first, 'rootword');
	const name = /^• Spawned ([A-Z]\w+) /m.exec((await first.until(/^• Asked\.$/m)).join('\n'))[1];
	await idle(first);
	await leave(first);
	const term = await startReady(t, model, ['resume', '--last'], { home, cwd });
	await term.until(new RegExp(`^• Spawned ${name} \\(\\S+\\)\\n {2}└ count pears\\n\\n• Asked\\.$`, 'm'));
	await leave(term);
});

test('a message to the subagent that is shown; commands of the main thread wait', options, async (t) => {
	const { model, term } = await spawned(t, [
		child('and plums', { message: 'Nine plums.' }), child('count pears', { message: 'Seven pears.' }),
		spawns, say('Asked.'), say('Noted.')]);
	await term.until(/^• Asked\.$/m);
	await idle(term);
	term.type(ALT_RIGHT);
	await term.until(/Watching[^]*• Seven pears\.[^]*^›$/m);
	await enter(term, 'and plums');
	await term.until(/› and plums\n\n• Nine plums\./);
	await idle(term);
	assert.ok(model.requests().some((request) => textsOf(request, 'user').includes('and plums')));
	await enter(term, '/compact');
	await term.until(/'\/compact' works in the main thread/);
	term.type('\x15');
	await term.until(/^›$/m);
	term.type('\x14');
	await term.until(/T R A N S C R I P T[^]*Nine plums\./);
	term.type('q');
	await term.untilGone(/T R A N S C R I P T/);
	await leave(term);
});

test('Esc interrupts the subagent that is shown, and not the main thread', options, async (t) => {
	const { model, term } = await spawned(t, [
		child('count pears', { delta: 'Slowly' }, { gate: 'a' }), spawns, reply({ delta: 'I wait' }, { gate: 'b' }, { message: 'I wait. Done.' })]);
	await term.until(/• I wait/);
	term.type(ALT_RIGHT);
	await term.until(/Watching[^]*esc to interrupt/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted[^]*Watching \S+ \(alt/);
	term.type('\x1b');
	await term.untilGone(/Watching \S+ \(alt/);
	await term.until(/esc to interrupt/);
	await model.openGate('b');
	await idle(term);
	await term.until(/Done\./);
	await leave(term);
});

test('a request of a subagent names it, and outlives the turn of the main thread, here and in an attached terminal', options, async (t) => {
	const asking = 'sandbox_mode = "read-only"\napproval_policy = "untrusted"\n[features]\nmulti_agent = true\n';
	const { term, model } = await spawned(t, [
		child('function_call_output', { message: 'It ran.' }),
		child('count pears', { call: 'exec_command', arguments: { cmd: 'touch made' } }),
		spawns, reply({ gate: 'a' }, { message: 'Asked.' }), say('Noted.')], { config: asking });
	await term.until(/^\S+ asks: Would you like to run the following command\?\n\n\$ touch made/m);
	const guest = await startReady(t, model, ['attach'], { home: term.home, cwd: term.cwd });
	await guest.until(/^\S+ asks: Would you like to run the following command\?\n\n\$ touch made/m);
	await model.openGate('a');
	for (const each of [term, guest]) {
		await each.until(/^• Asked\./m);
		await idle(each);
	}
	await answer(guest, 'y');
	await guest.until(/You approved codex to run touch made/);
	await term.untilGone(/Would you like to run/);
	guest.close();
	await guest.done;
	term.type(ALT_RIGHT);
	await term.until(/Watching[^]*touch made[^]*• It ran\./);
	await leave(term);
});

test('two requests of a subagent at once both outlive the turn of the main thread, and end with its own', options, async (t) => {
	const asking = 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n[features]\nmulti_agent = true\n';
	const run = (cmd) => ({ call: 'exec_command', arguments: { cmd } });
	const { term, model } = await spawned(t, [
		child('count pears', run('touch one'), run('touch two'), run('touch three')),
		spawns, reply({ gate: 'a' }, { message: 'Asked.' })], { config: asking });
	const guest = await startReady(t, model, ['attach'], { home: term.home, cwd: term.cwd });
	for (const each of [term, guest]) await each.until(/\$ touch one/);
	await model.openGate('a');
	for (const each of [term, guest]) {
		await each.until(/^• Asked\./m);
		await idle(each);
	}
	await answer(term, 'y');
	for (const each of [term, guest]) await each.until(/Would you like to run the following command\?\n\n\$ touch two/);
	await until(() => fs.existsSync(`${term.cwd}/one`));
	await answer(term, '\x1b'); // ends the turn of the subagent, and with it the third request
	for (const each of [term, guest]) await each.untilGone(/Would you like to run/);
	assert.ok(!fs.existsSync(`${term.cwd}/two`) && !fs.existsSync(`${term.cwd}/three`));
	guest.close();
	await guest.done;
	await leave(term);
});

test('a subagent and the main thread ask under the same call id: each answer reaches its own request', options, async (t) => {
	const asking = 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n[features]\nmulti_agent = true\n';
	const asks = (cmd) => ({ call: 'exec_command', arguments: { cmd }, call_id: 'same' });
	const { term, model } = await spawned(t, [
		child('function_call_output', { message: 'It ran.' }), child('count pears', asks('touch pears')),
		spawns, reply({ gate: 'a' }, asks('touch apples')), say('Done.')], { config: asking });
	await term.until(/^\S+ asks: Would you like to run the following command\?\n\n\$ touch pears/m);
	await model.openGate('a');
	await until(() => term.raw().includes('Action Required') && model.requests().length >= 3);
	await answer(term, 'y');
	await term.until(/^Would you like to run the following command\?\n\n\$ touch apples/m);
	await until(() => fs.existsSync(`${term.cwd}/pears`));
	assert.ok(!fs.existsSync(`${term.cwd}/apples`));
	await answer(term, 'y');
	await term.until(/• Done\./);
	assert.ok(fs.existsSync(`${term.cwd}/apples`));
	await idle(term);
	assert.doesNotMatch(term.lines().join('\n'), /the answer was ignored/);
	await leave(term);
});

test('a request of a subagent hides no running call of the main thread that has its id', options, async (t) => {
	const asking = 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n[features]\nmulti_agent = true\n', cwd = tempDir(t, 'cwd');
	const asks = (cmd) => ({ call: 'exec_command', arguments: { cmd, yield_time_ms: 30_000 }, call_id: 'same' });
	execFileSync('mkfifo', [`${cwd}/gate`]);
	const { term } = await spawned(t, [child('function_call_output', { message: 'It ran.' }), child('count pears', asks('touch pears')),
		spawns, reply(asks('cat gate')), say('Done.'), say('Noted.')], { config: asking, cwd });
	await term.until(/^• Running cat gate\n\n\S+ asks: Would you like to run the following command\?\n\n\$ touch pears/m);
	await answer(term, 'y');
	await term.until(/You approved codex to run touch pears/);
	fs.writeFileSync(`${cwd}/gate`, '');
	await term.until(/^• Done\./m);
	await idle(term);
	await leave(term);
});

test('a terminal that is attached later lists the subagents, shows what is recorded, and says where messages go', options, async (t) => {
	const { term, model } = await spawned(t, [
		child('count pears', { message: 'Three pears.' }, { gate: 'b' }), spawns, reply({ gate: 'a' }, { message: 'Asked.' })]);
	const guest = await startReady(t, model, ['attach'], { home: term.home, cwd: term.cwd });
	await guest.until(/Attached to a session that runs in another terminal/);
	await model.openGate('b');
	await enter(guest, '/agent');
	await guest.until(/Subagents\n[^]*Main \[default\][^]*2\. \S+ +[0-9a-f-]{36}/);
	guest.type('2');
	await guest.until(/Watching \S+ \([0-9a-f-]{36}\): it runs elsewhere[^]*count pears/);
	guest.type(ALT_LEFT);
	await guest.until(/• Main thread/);
	guest.type(ALT_RIGHT);
	await guest.until(/Watching[^]*Watching/);
	await enter(guest, 'more');
	await guest.until(/■ this subagent runs elsewhere: do this in the terminal of its session/);
	guest.close();
	await guest.done;
	await model.openGate('a');
	await term.until(/• Asked\./);
	await idle(term);
	await leave(term);
});
