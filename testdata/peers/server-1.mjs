// A server on @modelcontextprotocol/sdk 1.x, which speaks the legacy era alone: server-1.mjs stdio|http legacy sse|json
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { call, info, list, options } from './station.mjs';

const [carrier, , mode] = process.argv.slice(2);

function station() {
  const server = new Server(info, options);
  server.setRequestHandler(ListToolsRequestSchema, request => list(request.params?.cursor));
  // Server's own method checks the results of its handlers, and knows no hologram; the one that it overrides does not.
  Protocol.prototype.setRequestHandler.call(server, CallToolRequestSchema, (request, extra) =>
    call(request.params, {
      error: message => new McpError(ErrorCode.InvalidParams, message),
      signal: extra.signal,
      progress: async params => {
        const progressToken = extra._meta?.progressToken;
        if (progressToken !== undefined) {
          await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, ...params } });
        }
      },
    }));
  return server;
}

if (carrier === 'stdio') {
  await station().connect(new StdioServerTransport());
} else {
  const open = new Map();
  const http = createServer(async (req, res) => {
    let transport = open.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: mode === 'json',
        onsessioninitialized: id => open.set(id, transport),
      });
      await station().connect(transport);
    }
    await transport.handleRequest(req, res);
  }).listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
