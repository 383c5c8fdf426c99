/**
 * Servers of the Model Context Protocol. A server and its transport belong together and remember what was said: an app that makes both for
 * each request shares neither, one that keeps them by session has them where its sessions are.
 */
import type { Members } from '../build.js';
import { calls, each, mutating, promising, pure, sync } from '../build.js';
import type { PackageModel } from '../types.js';

const MCP = '@modelcontextprotocol/sdk/server/mcp.js';
const HTTP = '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** What a tool is called with comes from a message; the second is of the session. */
const served = sync('last', ['fresh', 'unknown', 'unknown'], { runBy: 'mcp' });

const registers: Members = each('registerTool tool registerPrompt prompt registerResource resource', {
  call: { ruptures: [served], returns: `${MCP}.Registered`, mutates: ['this'], keeps: [-1] },
});

export const mcpServer = {
  name: MCP,
  module: {
    members: {
      McpServer: { construct: { returns: `${MCP}.McpServer`, keeps: [-1] } },
    },
  },
  types: {
    McpServer: {
      identity: true,
      members: {
        ...registers,
        ...promising('connect', { mutates: ['this', 0], keeps: [0], runs: 'mcp' }),
        ...promising('close', { mutates: ['this'] }),
        ...pure('isConnected'),
      },
    },
    Registered: { identity: true, members: mutating('enable disable update remove') },
  },
} satisfies PackageModel;

export const mcpTransport = {
  name: HTTP,
  module: {
    members: {
      StreamableHTTPServerTransport: { construct: { returns: `${HTTP}.Transport`, keeps: [-1], does: ['random'] } },
    },
  },
  types: {
    Transport: {
      identity: true,
      members: {
        // It answers, and calls what it was given and what the server has that it was connected to.
        ...promising('handleRequest', { mutates: ['this', 0, 1], keeps: [0, 1], runs: 'mcp' }),
        ...promising('close start', { mutates: ['this'] }),
        ...calls('closeSSEStream closeStandaloneSSEStream', { mutates: ['this'] }),
      },
    },
  },
} satisfies PackageModel;
