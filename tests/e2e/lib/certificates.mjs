// A private CA with the certificates of a server on 127.0.0.1 and of a client, made by openssl.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { tempDir } from './codex.mjs';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

/** Paths of PEM files: ca, serverCert, serverKey, clientCert, clientKey, clientBoth, lockedKey (with a passphrase), otherKey. */
export function makeCertificates(t) {
	const dir = tempDir(t, 'tls'), at = (name) => path.join(dir, name);
	const openssl = (...args) => execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
	openssl('req', '-x509', ...KEY, '-subj', '/CN=test CA', '-keyout', 'ca.key', '-out', 'ca.pem');
	const issue = (name, subject, extension) => {
		openssl('req', ...KEY, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
		fs.writeFileSync(at(`${name}.ext`), `${extension}\n`);
		openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
			'-extfile', `${name}.ext`, '-out', `${name}.pem`);
	};
	issue('server', '127.0.0.1', 'subjectAltName=IP:127.0.0.1,DNS:localhost');
	issue('client', 'the client', 'extendedKeyUsage=clientAuth');
	openssl('pkey', '-in', 'client.key', '-aes256', '-passout', 'pass:secret-pass', '-out', 'locked.key');
	openssl('genpkey', '-algorithm', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-out', 'other.key');
	fs.writeFileSync(at('both.pem'), fs.readFileSync(at('client.pem'), 'utf8') + fs.readFileSync(at('client.key'), 'utf8'));
	return { ca: at('ca.pem'), serverCert: at('server.pem'), serverKey: at('server.key'), clientCert: at('client.pem'),
		clientKey: at('client.key'), clientBoth: at('both.pem'), lockedKey: at('locked.key'), otherKey: at('other.key') };
}

/** Options of node's https for this server; with a client certificate if `asksClient`. */
export const serverOptions = (files, asksClient = false) => ({
	cert: fs.readFileSync(files.serverCert), key: fs.readFileSync(files.serverKey), ca: fs.readFileSync(files.ca),
	requestCert: asksClient, rejectUnauthorized: asksClient,
});
