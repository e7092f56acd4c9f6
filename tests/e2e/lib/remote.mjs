// A thread whose commands run in an environment: in the folder of a machine with an exec-server, which here is this one.
import { startAppServer, text } from './app_server.mjs';
import { call, outputOf, startModel, tempDir } from './codex.mjs';
import { startExecServer } from './exec_server.mjs';

export const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
export const BOXED = { sandbox: 'workspace-write', approvalPolicy: 'never' };
export const runAs = (id, cmd, more) => call('exec_command', { cmd, ...more }, { call_id: id });

/** An app-server with a thread whose commands run in the environment `r`, in a folder of its own. */
export async function startRemote(t, replies, { own, config, args, ...more } = {}) {
	const remote = await startExecServer(t, own);
	const model = await startModel(t, replies);
	const server = await startAppServer(t, model, { config, args });
	const folder = tempDir(t, 'there');
	await server.request('environment/add', { environmentId: 'r', execServerUrl: remote.url });
	await remote.called('environment/info'); // its shell is known
	await remote.until(() => remote.links.size === 0);
	const { thread, instructionSources } = await server.request('thread/start',
		{ ...FREE, environments: [{ environmentId: 'r', cwd: folder }], ...more });
	const turn = async (extra = {}) => {
		await server.request('turn/start', { threadId: thread.id, input: [text('go')], ...extra });
		return (await server.next('turn/completed')).params.turn;
	};
	/** The output that the model got for the last call of this id. */
	const output = (id) => outputOf(model.requests().at(-1), id);
	const starts = () => remote.calls.filter(({ method, params }) => method === 'process/start' && params.processId !== 'probe');
	const items = () => server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'commandExecution');
	return { remote, model, server, folder, thread, instructionSources, turn, output, starts, items };
}
