// grpc_prompt.mjs — one prompt over gRPC: asks before a command runs or a file changes, and prints the answer.
//
//   codex proto --listen http://127.0.0.1:7400 -c approval_policy=untrusted
//   npm install @grpc/grpc-js @grpc/proto-loader
//   codex proto --print-proto > codex.proto
//   node grpc_prompt.mjs 127.0.0.1:7400 "what is in this folder?"
//
// $CODEX_TOKEN is the token of --token-file, if the server has one.
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import readline from 'node:readline/promises';

const [address, ...prompt] = process.argv.slice(2);
const { codex } = grpc.loadPackageDefinition(loader.loadSync(process.env.CODEX_PROTO ?? 'codex.proto', { keepCase: true }));
const client = new codex.v1.Codex(address, grpc.credentials.createInsecure(),
	{ 'grpc.max_receive_message_length': 64 << 20, 'grpc.keepalive_time_ms': 60_000 });
const metadata = new grpc.Metadata();
if (process.env.CODEX_TOKEN) metadata.set('authorization', `Bearer ${process.env.CODEX_TOKEN}`);
const terminal = readline.createInterface({ input: process.stdin });
const answers = terminal[Symbol.asyncIterator]();
const session = client.Session(metadata); // it ends with this stream
const submit = (id, op) => session.write({ id, op_json: JSON.stringify(op) });

async function ask(msg, type) {
	console.log(JSON.stringify(msg));
	process.stdout.write('Allow this? (y/n) ');
	const { value } = await answers.next();
	submit('answer', { type, id: msg.call_id, decision: value === 'y' ? 'approved' : 'denied' });
}

function fail(text) {
	console.error(text);
	process.exitCode = 1;
	session.end();
}

session.on('data', ({ type, msg_json }) => {
	const msg = JSON.parse(msg_json);
	if (type === 'exec_approval_request') ask(msg, 'exec_approval');
	else if (type === 'apply_patch_approval_request') ask(msg, 'patch_approval');
	else if (type === 'error') fail(msg.message);
	else if (type === 'task_complete') {
		if (!process.exitCode) console.log(msg.last_agent_message);
		session.end(); // the end of input; events follow until shutdown_complete
	}
});
session.on('error', ({ details }) => fail(details));
session.on('status', () => {
	terminal.close();
	client.close();
});
submit('1', { type: 'user_input', items: [{ type: 'text', text: prompt.join(' ') || 'hello' }] });
