// A real issuer for the tests: npm's oidc-provider on a free port, one client for each kind of signature. Arguments:
// where the packages are, and the callback address. The issuer's address is the only line on the output; the end of
// the input ends the program.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// What it has to say goes where nobody reads: the output is closed after its one line.
console.info = console.log = console.error;
const [modules, callback] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(modules, 'oidc-provider/lib/index.js')));

const key = (kid, kind, options) => ({
  ...generateKeyPairSync(kind, options).privateKey.export({ format: 'jwk' }), kid, use: 'sig',
});
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: algorithms.map((algorithm) => ({
      client_id: algorithm,
      client_secret: `s3cret/of ${algorithm}`,
      redirect_uris: [callback],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: algorithm,
      token_endpoint_auth_method: 'client_secret_basic',
    })),
    jwks: {
      keys: [
        key('rsa', 'rsa', { modulusLength: 2048 }),
        key('ec', 'ec', { namedCurve: 'P-256' }),
        key('ed', 'ed25519', {}),
      ],
    },
    cookies: { keys: ['a key of the test'] },
    // As Google does: who it is, is in the proof.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.test`, email_verified: true, name: `${id} of the test` }),
    }),
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    enabledJWA: { idTokenSigningAlgValues: algorithms },
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
process.stdin.resume().on('end', () => process.exit(0));
