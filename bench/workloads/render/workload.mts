import { get, type Session, type Workload } from '../../support/workload.js';

const ROWS = 200;

function pageOf(list: number): string {
  const row = (number: number): string =>
    `<tr class="${number % 2 ? 'odd' : 'even'}"><td>${number}</td><td>row ${number} of ${list}</td>` +
    `<td>&lt;b&gt;${number * list}&lt;/b&gt; &amp; more</td></tr>\n`;
  const rows = Array.from({ length: ROWS }, (_, number) => row(number)).join('');
  return (
    `<!doctype html>\n<html>\n<head><title>List ${list}</title></head>\n<body>\n<h1>List ${list}</h1>\n<table>\n` +
    `${rows}</table>\n</body>\n</html>\n`
  );
}

const PAGES = [7, 8, 9].map((list) => [get(`/lists/${list}`), Buffer.from(pageOf(list))] as const);

const begin = (): Session => ({
  client: (index) => {
    const [request, page] = PAGES[index % PAGES.length]!;
    return { next: () => request, check: ({ status, body }) => status === 200 && body.equals(page) };
  },
});

export const render: Workload = {
  name: 'render',
  title: 'template rendering',
  streams: [{ name: 'all', connections: 16, begin }],
  first: '/lists/1',
};
