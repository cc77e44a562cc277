// A server on @modelcontextprotocol/server, which speaks both eras: server-2.mjs stdio|http modern|legacy sse|json
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { call, info, list, options } from './station.mjs';

const [carrier, era, mode] = process.argv.slice(2);

// The SDK checks the results of its own handlers, and knows no hologram. This server answers what it likes.
class Unchecked extends Server {
  _wrapHandler(method, handler) {
    return method === 'tools/call' ? handler : super._wrapHandler(method, handler);
  }
}

function station() {
  const server = new Unchecked(info, options);
  server.setRequestHandler('tools/list', request => list(request.params?.cursor));
  server.setRequestHandler('tools/call', (request, ctx) =>
    call(request.params, {
      error: message => new ProtocolError(ProtocolErrorCode.InvalidParams, message),
      signal: ctx.mcpReq.signal,
      progress: async params => {
        const progressToken = request.params._meta?.progressToken ?? ctx.mcpReq._meta?.progressToken;
        if (progressToken !== undefined) {
          await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...params } });
        }
      },
    }));
  return server;
}

// sessions is the legacy handler: one transport and one server for each session.
function sessions() {
  const open = new Map();
  return async (req, res) => {
    let transport = open.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: mode === 'json',
        onsessioninitialized: id => open.set(id, transport),
      });
      await station().connect(transport);
    }
    await transport.handleRequest(req, res);
  };
}

if (carrier === 'stdio') {
  if (era === 'modern') serveStdio(station, { legacy: 'reject' });
  else await station().connect(new StdioServerTransport());
} else {
  const handler = era === 'modern'
    ? toNodeHandler(createMcpHandler(station, { legacy: 'reject', responseMode: mode }))
    : sessions();
  const http = createServer(handler).listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
