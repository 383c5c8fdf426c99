/**
 * Gives: what real files have beside the code that handles requests: documentation, messages, checks, sums, templates. It
 *        stands in front of the generated code, and uses nothing of it.
 */
export type FeaturePart = 'routes' | 'controllers' | 'services' | 'models';

export function plainText(part: FeaturePart, n: number): string {
  return texts[part](n);
}

const texts: Readonly<Record<FeaturePart, (n: number) => string>> = {
  routes: routesText,
  controllers: controllersText,
  services: servicesText,
  models: modelsText,
};

function routesText(n: number): string {
  return `/**
 * Routes of feature ${n}.
 *
 * All of them answer with JSON but for the page of a single item, which is HTML, and the report, which is a table of
 * comma-separated values that spreadsheets can open. What a client gets wrong is answered with a status of 400 or 422
 * and a list of problems that can be shown to people as it is; what is not there is a 404 without a body.
 *
 *   GET    /feature${n}              a page of items: ?page=1&state=open&text=words
 *   GET    /feature${n}/:id          one item, as a page
 *   POST   /feature${n}              a new item: { title, body, tags, state, due }
 *   PUT    /feature${n}/:id          changes some of these
 *   DELETE /feature${n}/:id          takes it away for good
 *   GET    /feature${n}/:id/report   what has happened to it
 *
 * The limits below are those of the tariff that every account begins with. Larger ones are given by the accounts'
 * service; it is asked when a request comes near a limit, not before.
 */
const LIMITS = { pageSize: 20, longestTitle: 200, longestBody: 20000, tags: 12, requestsPerMinute: 240 };

/**
 * The number of pages that so many items take. There is always one page, if only to say that there is nothing on it, and
 * never more than a thousand: who wants more has to narrow the search.
 *
 * @param {number} items how many items were found
 * @param {number} size how many of them fit on a page
 * @returns {number} from 1 to 1000
 */
function countPages(items, size) {
  if (!Number.isFinite(items) || items <= 0) return 1;
  const whole = Math.floor(items / size);
  const rest = items - whole * size;
  let pages = rest > 0 ? whole + 1 : whole;
  if (pages > 1000) pages = 1000;
  if (pages < 1) pages = 1;
  return pages;
}
countPages(LIMITS.requestsPerMinute, LIMITS.pageSize);

`;
}

function controllersText(n: number): string {
  return `/**
 * Controllers of feature ${n}: what requests ask for, in terms of the service below, and what it gives as an answer.
 *
 * Nothing is decided here that is not about HTTP. Who may do what has been checked by the time that a handler runs; what
 * an item is allowed to look like the service knows. A handler that fails hands the error to the next one in the chain,
 * where all errors are told alike, so that no text of a database or a file system gets to the outside.
 */
const MESSAGES = {
  missing: 'There is no item of that number, or it has been taken away.',
  tooLong: 'This text is longer than it may be. Please shorten it, or put a part of it into a note.',
  badDate: 'This is no date. Write it as year, month and day, for instance 2024-05-31.',
  badState: 'An item is open, waiting or done. Anything else can be told by a tag.',
};

/**
 * A date as it stands in the form, in days since the beginning of 1970; not a number if it is none. The calendar is that of
 * the library's own date, so the thirtieth of February is the first or second of March, as users of spreadsheets expect.
 */
function parseDay(text) {
  const match = /^(\\d{4})-(\\d{1,2})-(\\d{1,2})$/.exec(text);
  if (match === null) return Number.NaN;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  if (year < 1970 || year > 2199 || month < 1 || month > 12 || day < 1 || day > 31) return Number.NaN;
  return Math.floor(Date.UTC(year, month - 1, day) / 86400000);
}

/** What is wrong with a date and a state, in the words of the form. The first problem is enough: people mend one at a time. */
function describeProblem(due, state) {
  if (typeof due === 'string' && due !== '' && Number.isNaN(parseDay(due))) return MESSAGES.badDate;
  if (typeof due === 'string' && due.length > 40) return MESSAGES.tooLong;
  switch (state) {
    case 'open':
    case 'waiting':
    case 'done':
    case undefined:
      return '';
    default:
      return MESSAGES.badState;
  }
}
describeProblem('2024-05-31', 'open');

`;
}

function servicesText(n: number): string {
  return `/**
 * The service of feature ${n}: finds, keeps and changes items.
 *
 * Items are kept by the model; what has been asked for lately is remembered here, a hundred of them, the oldest of
 * which goes when there is one too many. An item is told by a number that is made from the clock and from chance, so that
 * two servers need not agree on it: should they ever make the same one, the second is refused by the model.
 *
 * Functions that take a callback call it with an error or null, and then with what was asked for. Those that do not give
 * a promise instead. New ones should give promises; the others are there for the jobs that were written before.
 */
const WEIGHTS = [0.5, 0.25, 0.125, 0.0625, 0.03125];

/**
 * How well a text matches some words: the share of words that are in it, where a word at the beginning counts for more
 * than one in the middle, and one in the middle for more than one at the end. It is no great science, but good enough to
 * put what people look for among the first ten.
 *
 * @param {string} text what is searched
 * @param {string} words what is looked for, separated by blanks
 * @returns {number} from 0, nothing, to 1, all of it at the beginning
 */
function matchScore(text, words) {
  const wanted = words.toLowerCase().split(/\\s+/);
  const inside = text.toLowerCase();
  let score = 0;
  let possible = 0;
  for (let i = 0; i < wanted.length; i++) {
    const weight = i < 5 ? WEIGHTS[i] : 0.015625;
    possible += weight;
    const at = inside.indexOf(wanted[i]);
    if (at === -1) continue;
    const place = 1 - at / (inside.length + 1);
    score += weight * (0.75 + 0.25 * place);
  }
  return possible === 0 ? 0 : Math.round((score / possible) * 1000) / 1000;
}
matchScore('An item of the feature', 'item');

`;
}

function modelsText(n: number): string {
  return `/**
 * The model of feature ${n}: a file of items, read when the first one is asked for and written with each change.
 *
 * There are some thousand items at most, which a file holds well. The day that there are more, this is to become a table:
 *
 *   create table feature${n} (
 *     id      text primary key,
 *     title   text not null,
 *     body    text not null default '',
 *     tags    text[] not null default '{}',
 *     state   text not null check (state in ('open', 'waiting', 'done')),
 *     due     date,
 *     updated timestamptz not null default now()
 *   );
 *
 * and only the class below has to know of it.
 */
const SELECT_PAGE = \`
  select id, title, state, due, updated
    from feature${n}
   where state = coalesce($1, state)
     and to_tsvector('english', title || ' ' || body) @@ plainto_tsquery('english', $2)
   order by updated desc, id
   limit $3 offset $4\`;

/** A sum over the text that shows whether a file was changed by hand; it protects from accidents, not from people. */
function checksum(text) {
  let low = 1;
  let high = 0;
  for (let i = 0; i < text.length; i++) {
    low = (low + text.charCodeAt(i)) % 65521;
    high = (high + low) % 65521;
  }
  return high * 65536 + low;
}
checksum(SELECT_PAGE);

`;
}
