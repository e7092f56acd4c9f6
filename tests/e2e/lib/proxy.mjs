// An HTTP proxy on 127.0.0.1.

import http from 'node:http';
import net from 'node:net';

/** A proxy that records what passes; with `password`, only requests with these credentials do. */
export async function startProxy(t, password) {
	const seen = [];
	let refusesTunnels = false;
	const expected = password && `Basic ${Buffer.from(password).toString('base64')}`;
	const refuses = (request) => {
		seen.push({ method: request.method, url: request.url, authorization: request.headers['proxy-authorization'],
			inner: request.headers.authorization });
		return expected && request.headers['proxy-authorization'] !== expected;
	};
	const proxy = http.createServer((request, response) => {
		if (refuses(request)) return response.writeHead(407).end('no');
		const forward = http.request(request.url, { method: request.method, headers: request.headers }, (answer) => {
			response.writeHead(answer.statusCode, answer.headers);
			answer.pipe(response);
		});
		return request.pipe(forward);
	});
	const sockets = new Set();
	proxy.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
	proxy.on('connect', (request, socket) => {
		if (refuses(request) || refusesTunnels) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
		const [host, port] = request.url.split(':');
		const onward = net.connect(Number(port), host, () => {
			socket.write('HTTP/1.1 200 OK\r\n\r\n');
			onward.pipe(socket).pipe(onward);
		});
		sockets.add(onward.on('error', () => socket.destroy()));
		return socket.on('close', () => onward.destroy());
	});
	await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	t.after(() => {
		sockets.forEach((socket) => socket.destroy());
		proxy.close();
	});
	return { seen, refuseTunnels: () => (refusesTunnels = true), port: proxy.address().port,
		url: (user = '') => `http://${user}127.0.0.1:${proxy.address().port}` };
}
