// A certified OpenID Connect provider on loopback, with its own login and consent pages: dynamic registration, PKCE,
// resource indicators, rotating refresh tokens, revocation and introspection.
//
//   node provider.mjs ID:SECRET      the client that asks about tokens, which is the protected server
//
// It says what happens as one JSON line each on stdout, the first {"event":"listening","issuer":URL}. It takes orders
// as lines on stdin, answers each with {"event":"done"}, and ends when stdin does:
//
//   news                             nothing; what was said before the answer is all that happened before
//   lifetime SECONDS                 of access tokens from now on
//   drop                             the access tokens that were issued are good no more; their grants are
//   revoke                           the grants are good no more, as when a person withdraws them
//
// No token, code or secret is in what it says.
import http from 'node:http';
import readline from 'node:readline';
import { errors, Provider } from 'oidc-provider';

console.info = console.warn = console.error; // stdout is for events
const say = (event, more) => process.stdout.write(JSON.stringify({ event, ...more }) + '\n');
const [id, secret] = process.argv[2].split(':');
let lifetime = 3600;
const tokens = new Set(), grants = new Set();

const server = http.createServer((req, res) => answer(req, res));
await new Promise(listening => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const scope = 'station:read station:maintain';
const provider = new Provider(issuer, {
  clients: [{ client_id: id, client_secret: secret, redirect_uris: [], grant_types: [], response_types: [] }],
  cookies: { keys: ['of one run'] },
  scopes: ['openid', 'offline_access', ...scope.split(' ')],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: {
    AccessToken: () => lifetime, AuthorizationCode: 60, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600
  },
  clientAuthMethods: ['none', 'client_secret_basic'],
  findAccount: (ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  features: {
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => { throw new errors.InvalidTarget(); }, // who names no resource gets no token
      getResourceServerInfo: (ctx, resource) => {
        if (!/^http:\/\/127\.0\.0\.1:\d+\/mcp$/.test(resource)) throw new errors.InvalidTarget();
        return { scope, audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: lifetime };
      },
    },
    revocation: { enabled: true },
  },
});
const answer = provider.callback();

provider.on('registration_create.success', () => say('registered'));
provider.on('interaction.started', (ctx, prompt) => say('page', { prompt: prompt.name }));
provider.on('authorization.success', ctx => say('authorized', {
  scope: ctx.oidc.params.scope, resource: ctx.oidc.params.resource, method: ctx.oidc.params.code_challenge_method,
}));
provider.on('authorization.error', (ctx, e) => say('not authorized', { error: e.error }));
provider.on('grant.success', ctx => say('granted', {
  grant: ctx.oidc.params.grant_type, scope: ctx.body.scope, resource: ctx.oidc.params.resource,
}));
provider.on('grant.error', (ctx, e) => say('not granted', { grant: ctx.oidc.params?.grant_type, error: e.error }));
provider.on('grant.revoked', () => say('revoked'));
provider.on('server_error', (ctx, e) => say('broken', { error: e.name }));
provider.on('access_token.saved', t => tokens.add(t.jti));
provider.on('access_token.issued', t => tokens.add(t.jti));
provider.on('grant.saved', g => grants.add(g.jti));

const orders = {
  news: async () => {},
  lifetime: async seconds => { lifetime = Number(seconds); },
  drop: async () => { for (const t of tokens) await (await provider.AccessToken.find(t))?.destroy(); tokens.clear(); },
  revoke: async () => { for (const g of grants) await (await provider.Grant.find(g))?.destroy(); grants.clear(); },
};
say('listening', { issuer });
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [order, value] = line.split(' ');
  await orders[order](value);
  say('done');
}
process.exit(0);
