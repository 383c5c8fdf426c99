/**
 * An MCP server on Express, with the sessions of its clients in memory: two real clients and others beside them, under every
 * placement, hear what they hear under node.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import test, { type ExecutionContext } from 'ava';
import { findApp } from './support/fixture.js';
import { inTurn } from './support/in-turn.js';
import { PLACEMENTS } from './support/placements.js';
import { runsAway, ServedApp } from './support/served-app.js';

const app = findApp('mcp');

/** One session. */
class Session {
  readonly #client = new Client({ name: 'test', version: '1.0.0' });
  readonly #transport: StreamableHTTPClientTransport;
  readonly heard: unknown[] = [];

  constructor(port: number) {
    this.#transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
    this.#client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      this.heard.push(params.data);
    });
  }

  connect(): Promise<void> {
    return this.#client.connect(this.#transport);
  }

  async tools(): Promise<readonly string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  async call(name: string, args: { readonly [name: string]: unknown }): Promise<unknown> {
    const { content, isError } = await this.#client.callTool({ name, arguments: { ...args } });
    return isError === true ? { isError, content } : content;
  }

  async note(index: number): Promise<unknown> {
    return (await this.#client.readResource({ uri: `note://${index}` })).contents;
  }

  async prompt(style: string): Promise<unknown> {
    return (await this.#client.getPrompt({ name: 'summarise', arguments: { style } })).messages;
  }

  async end(): Promise<void> {
    await this.#transport.terminateSession();
    await this.#client.close();
  }
}

async function talk(t: ExecutionContext, placement: string): Promise<readonly unknown[]> {
  const served = await ServedApp.serveFixture(t, app, PLACEMENTS[placement] ?? { flags: null });
  const said: unknown[] = [];
  const others = (): Promise<unknown> =>
    Promise.all([100_000, 200_000, 300_000, 400_000].map((rounds) => served.get(`/estimate/${rounds}`))).then((all) =>
      said.push(all.map(({ text }) => text)),
    );
  const [one, other] = [new Session(served.port), new Session(served.port)];
  await Promise.all([one.connect(), other.connect(), others()]);
  said.push(await one.tools());
  said.push(await Promise.all([one.call('add_note', { text: 'milk' }), other.call('add_note', { text: 'bread' })]));
  said.push(await one.call('add_note', { text: 'tea' }), await one.call('add_note', { text: '' }));
  said.push(await one.call('post', { text: 'first' }), await other.call('post', { text: 'second' }));
  await others();
  said.push(await Promise.all([one.call('estimate_pi', { rounds: 300_000 }), other.call('countdown', { from: 5 })]));
  said.push(other.heard, one.heard);
  said.push(await one.note(1), await other.note(0), await other.note(1), await one.prompt('briefly'));
  const sessions = async (): Promise<string> => (await served.get('/mcp/sessions')).text;
  said.push(await sessions());
  await one.end();
  said.push(await sessions(), await other.call('add_note', { text: 'salt' }));
  await other.end();
  said.push(await sessions());
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': 'nobody' } };
  const { status, text } = await served.request('/mcp', json, '{"jsonrpc":"2.0","method":"tools/list","id":1}');
  said.push([status, text], (await served.get('/mcp', { headers: { 'Mcp-Session-Id': 'nobody' } })).text);
  await others();

  if (placement === 'eager') {
    const report = await served.report();
    t.is(runsAway(report, 'get_estimate_rounds'), 12);
    t.is(report.loops.filter(({ id, requests }) => id !== 'home' && requests > 0).length, 2);
  }
  return said;
}

test('clients of an MCP server hear the same under every placement', async (t) => {
  const names = Object.keys(PLACEMENTS);
  const [node, ...others] = await Promise.all(names.map((name) => inTurn(() => talk(t, name))));
  for (const [at, said] of others.entries()) t.deepEqual(said, node, names[at + 1]);
  const text = JSON.stringify(node);
  for (const words of ['note 1: bread', 'note 2: tea', 'first, second', '3.137987', '5 left', '1 left', 'no such note'])
    t.true(text.includes(words), words);
  for (const words of ['milk; tea', 'note 2: salt', 'no session', 'no such session'])
    t.true(text.includes(words), words);
});
