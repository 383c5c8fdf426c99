import test from 'ava';
import { UnderWay } from '../runtime/under-way.js';

const request = () => ({ response: { writableEnded: false }, socket: { destroyed: false } });

test('answered requests and those whose clients have gone are not under way', (t) => {
  const all = new UnderWay(() => true);
  const [answered, gone, waits] = [request(), request(), request()];
  for (const each of [answered, gone, waits]) all.begins(each);
  t.is(all.count, 3);
  answered.response.writableEnded = true;
  gone.socket.destroyed = true;
  t.is(all.count, 1);
});

test('of very many the number is right again after a while', (t) => {
  const all = new UnderWay(() => true);
  const many = Array.from({ length: 1000 }, request);
  for (const each of many) all.begins(each);
  t.is(all.count, 1000);
  for (const each of many) each.response.writableEnded = true;
  const counts = Array.from({ length: 64 }, () => all.count);
  t.is(counts.at(-1), 0);
});

test('nothing is kept while nobody wants to know', (t) => {
  let isWanted = true;
  const all = new UnderWay(() => isWanted);
  all.begins(request());
  isWanted = false;
  all.begins(request());
  t.is(all.count, 0);
});
