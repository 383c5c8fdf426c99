// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code under test
/**
 * Reads: choices.
 * Gives: an Express-like program in one or several modules, CommonJS or ES: routes, callbacks in callbacks, promises,
 *        classes, closures, loops, patterns, all over a handful of names, so that they meet and shadow each other.
 *
 * The program need not make sense when it runs. It parses, but for one kind of accident in a hundred.
 */
import type { Choices } from './choices.js';
import type { Tree } from './temp-folder.js';

export interface GeneratedProgram {
  readonly files: Tree;
  readonly entry: string;
}

export function generateProgram(choices: Choices): GeneratedProgram {
  const isModule = choices.oneIn(4);
  const extension = isModule ? 'mjs' : 'js';
  const names = ['app', 'routes', 'lib'].slice(0, 1 + choices.below(3)).map((name) => `${name}.${extension}`);
  const files = Object.fromEntries(names.map((name) => [name, new ModuleWriter(choices, isModule).write(name, names)]));
  return { files, entry: `app.${extension}` };
}

/** Where a statement or expression stands: what it may say. */
interface Context {
  readonly depth: number;
  readonly inFunction: boolean;
  readonly inAsync: boolean;
  readonly inGenerator: boolean;
  readonly inLoop: boolean;
  readonly inClass: boolean;
}

const topLevel: Context = {
  depth: 0,
  inFunction: false,
  inAsync: false,
  inGenerator: false,
  inLoop: false,
  inClass: false,
};

const deepest = 7;
const identifiers = [
  'a',
  'b',
  'count',
  'list',
  'cache',
  'self',
  'req',
  'res',
  'next',
  'app',
  'fs',
  'bus',
  'helper',
  'err',
];
const properties = [
  'n',
  'list',
  'send',
  'json',
  'end',
  'get',
  'push',
  'map',
  'then',
  'prototype',
  'constructor',
  '__proto__',
  'length',
  'user',
];

class ModuleWriter {
  readonly #choices: Choices;
  readonly #isModule: boolean;
  #fresh = 0;

  constructor(choices: Choices, isModule: boolean) {
    this.#choices = choices;
    this.#isModule = isModule;
  }

  write(name: string, all: readonly string[]): string {
    const lines = [...this.#imports(name, all)];
    const count = 2 + this.#choices.below(8);
    for (let index = 0; index < count; index++) lines.push(this.#statement(topLevel));
    if (!this.#choices.oneIn(3)) lines.push(this.#route(topLevel));
    lines.push(...this.#exports(), 'app.listen(3000);');
    return `${lines.join('\n')}\n`;
  }

  *#imports(name: string, all: readonly string[]): Generator<string> {
    const others = all.filter((other) => other !== name);
    if (this.#isModule) {
      yield "import express, { Router } from 'express';\nimport fs, { readFile } from 'node:fs';\nimport { EventEmitter } from 'events';";
      for (const [index, other] of others.entries()) {
        yield this.#choices.of(
          `import * as other${index} from './${other}';`,
          `import other${index} from './${other}';`,
          `import './${other}';`,
        );
      }
    } else {
      yield "var express = require('express'), { Router } = express, fs = require('fs'), { readFile } = fs;";
      yield "const { EventEmitter } = require('events');";
      for (const [index, other] of others.entries()) {
        yield this.#choices.of(
          `const other${index} = require('./${other}');`,
          `var { shared: other${index} } = require('./${other}');`,
          `require('./${other}');`,
        );
      }
    }
    yield 'var app = express(), router = Router(), bus = new EventEmitter(), count = 0, list = [], cache = {}, self, a, b, req, res, next, err;';
    yield 'function helper(a, b) { if (b) a.n = b; return a || list; }';
  }

  *#exports(): Generator<string> {
    const value = this.#choices.of('app', 'list', 'helper', 'cache', 'router', '{ shared: count, helper }');
    if (this.#isModule) yield `export default ${value};\nexport { helper, count as shared };`;
    else
      yield this.#choices.of(
        `module.exports = ${value};`,
        `exports.shared = ${value};`,
        `module.exports.helper = exports.shared = ${value};`,
      );
  }

  // -------------------------------------------------------------------------------------------------- names

  #name(): string {
    return this.#choices.in(identifiers);
  }

  #newName(): string {
    this.#fresh += 1;
    return `v${this.#fresh}`;
  }

  #inner(context: Context, more: Partial<Context> = {}): Context {
    return { ...context, depth: context.depth + 1, ...more };
  }

  // --------------------------------------------------------------------------------------------- statements

  #block(context: Context): string {
    const count = 1 + this.#choices.below(3);
    const inner = this.#inner(context);
    return `{ ${Array.from({ length: count }, () => this.#statement(inner)).join('\n')} }`;
  }

  #statement(context: Context): string {
    const c = this.#choices;
    if (context.depth >= deepest || c.isUsedUp) return `${this.#name()} = ${this.#name()};`;
    switch (c.below(24)) {
      case 0:
        return `${this.#expression(context)};`;
      case 1:
        return `var ${this.#name()} = ${this.#expression(context)};`;
      case 2:
        return `{ ${c.of('const', 'let')} ${this.#pattern(context)} = ${this.#expression(context)}; ${this.#statement(this.#inner(context))} }`;
      case 3:
        return `${this.#target(context)} ${c.of('=', '+=', '??=', '||=', '**=')} ${this.#expression(context)};`;
      case 4:
        return c.of(`${this.#member(context)}++;`, `--${this.#name()};`, `delete ${this.#member(context)};`);
      case 5:
        return `if (${this.#expression(context)}) ${this.#block(context)}${c.oneIn(2) ? ` else ${this.#block(context)}` : ''}`;
      case 6:
        return this.#loop(context);
      case 7:
        return `try ${this.#block(context)} catch ${c.of('(err)', '', '({ n: err })')} ${this.#block(context)}${c.oneIn(3) ? ` finally ${this.#block(context)}` : ''}`;
      case 8:
        return `switch (${this.#expression(context)}) { case ${this.#expression(context)}: ${this.#statement(this.#inner(context))} ${c.of('', 'break;')} default: ${this.#statement(this.#inner(context))} }`;
      case 9:
        return this.#functionDeclaration(context);
      case 10:
        return this.#classDeclaration(context);
      case 11:
        return context.inFunction ? `return ${this.#expression(context)};` : `${this.#expression(context)};`;
      case 12:
        return context.inLoop ? c.of('break;', 'continue;') : `throw ${this.#expression(context)};`;
      case 13:
        return `${this.#newName()}: for (;;) { ${this.#statement(this.#inner(context, { inLoop: true }))} break; }`;
      case 14:
        return `(${this.#pattern(context)} = ${this.#expression(context)});`.replace(/\bv\d+\b/g, () => this.#name());
      case 15:
      case 16:
      case 17:
        return this.#route(context);
      case 18:
      case 19:
      case 20:
        return `${this.#asynchronous(context)};`;
      case 21:
        return context.inAsync
          ? `${c.of('', 'var a = ', 'count = ', 'var { n: b } = ')}await ${this.#expression(context)};`
          : this.#block(context);
      case 22:
        return this.#directEffect();
      default:
        return this.#block(context);
    }
  }

  /** What programs do to state, in so many words. */
  #directEffect(): string {
    return this.#choices.of(
      'count += 1;',
      'cache[req.url] = res;',
      'list.push(req);',
      'self = this;',
      'Object.assign(cache, { count });',
      'app.locals.n = count;',
      'req.user = cache[req.ip];',
      'res.json(cache);',
      'next();',
      'bus.emit("tick", count);',
      '[count, list] = [list, count];',
      'helper(cache, helper);',
      'cache = list = self;',
    );
  }

  #loop(context: Context): string {
    const inner = this.#inner(context, { inLoop: true });
    const body = `{ ${this.#statement(inner)} ${this.#statement(inner)} }`;
    const isAsync = context.inAsync ? ' await' : '';
    switch (this.#choices.below(6)) {
      case 0:
        return `for (let ${this.#newName()} = 0; ${this.#expression(context)}; count++) ${body}`;
      case 1:
        return `for${isAsync} (const ${this.#pattern(context)} of ${this.#expression(context)}) ${body}`;
      case 2:
        return `for (${this.#target(context)} of ${this.#list(context)}) ${body}`;
      case 3:
        return `for (var ${this.#name()} in ${this.#expression(context)}) ${body}`;
      case 4:
        return `while (${this.#expression(context)}) ${body}`;
      default:
        return `do ${body} while (${this.#expression(context)});`;
    }
  }

  // ---------------------------------------------------------------------------------- routes and callbacks

  #route(context: Context): string {
    const c = this.#choices;
    const at = c.of('app', 'router', 'express()', 'app.route("/x")', 'this.app', 'cache.app');
    const method = c.of('get', 'post', 'use', 'all', 'param', 'on', c.in(properties));
    const path = c.of("'/'", '"/:id"', '/^x/', "['/a', '/b']", '`/${count}`', 'count', 'router');
    const handlers = Array.from({ length: 1 + c.below(2) }, () => this.#callback(context, ['req', 'res', 'next']));
    const listed = c.oneIn(5) ? `[${handlers.join(', ')}]` : handlers.join(', ');
    return `${at}.${method}(${path}, ${listed});`;
  }

  #asynchronous(context: Context): string {
    const c = this.#choices;
    const callback = (...names: string[]): string => this.#callback(context, names);
    switch (c.below(12)) {
      case 0:
        return `fs.readFile(${this.#expression(context)}, ${callback('err', 'a')})`;
      case 1:
        return `readFile(__filename, 'utf8', ${callback('err', 'list')})`;
      case 2:
        return `${c.of('setTimeout', 'setInterval', 'setImmediate', 'process.nextTick', 'queueMicrotask')}(${callback('a')}, 1)`;
      case 3:
        return `Promise.${c.of('resolve', 'reject', 'all', 'race', 'allSettled')}(${this.#list(context)}).then(${callback('a')})${c.of('', `.catch(${callback('err')})`, `.finally(${callback()})`)}`;
      case 4:
        return `new Promise(${callback('a', 'b')}).then(${callback('a')}, ${callback('err')})`;
      case 5:
        return `bus.${c.of('on', 'once', 'off', 'emit')}('tick', ${callback('a', 'b')})`;
      case 6:
        return `req.on('data', ${callback('a')}).on('end', ${callback()})`;
      case 7:
        return `fs.promises.readFile(${this.#expression(context)}).then(${callback('a')})`;
      case 8:
        return `require('http').createServer(${callback('req', 'res')}).listen(${callback()})`;
      case 9:
        return `${this.#list(context)}.${c.of('forEach', 'map', 'filter', 'reduce', 'sort', 'find')}(${callback('a', 'b')})`;
      case 10:
        return `require('unknown-package').do(${this.#expression(context)}, ${callback('err', 'a')})`;
      default:
        return `${this.#expression(context)}.then(${callback('a')})`;
    }
  }

  #callback(context: Context, names: readonly string[]): string {
    const c = this.#choices;
    if (c.oneIn(6)) return this.#name();
    if (c.oneIn(12)) return `${this.#name()}.bind(${this.#expression(context)})`;
    if (c.oneIn(12)) return `helper(${this.#functionExpression(context, names)})`;
    return this.#functionExpression(context, names);
  }

  // ---------------------------------------------------------------------------------------------- functions

  #functionExpression(context: Context, names: readonly string[]): string {
    const c = this.#choices;
    const isAsync = c.oneIn(4);
    const isGenerator = c.oneIn(12);
    const body = this.#body(context, { inAsync: isAsync, inGenerator: isGenerator && !c.oneIn(2) });
    const params = this.#parameters(context, names);
    const word = isAsync ? 'async ' : '';
    if (!isGenerator && c.oneIn(2)) return `(${word}(${params}) => ${body})`;
    if (!isGenerator && c.oneIn(6))
      return `(${word}(${params}) => ${this.#expression(this.#inner(context, { inAsync: isAsync, inGenerator: false }))})`;
    return `(${word}function${isGenerator ? '*' : ''} ${c.of('', this.#newName(), 'handler')}(${params}) ${body})`;
  }

  #functionDeclaration(context: Context): string {
    const c = this.#choices;
    const isAsync = c.oneIn(4);
    const isGenerator = c.oneIn(8);
    const body = this.#body(context, { inAsync: isAsync, inGenerator: isGenerator });
    const name = this.#newName();
    const use = c.of(
      '',
      `${name}(${this.#expression(context)});`,
      `self = ${name};`,
      `cache.${c.in(properties)} = ${name};`,
    );
    return `${isAsync ? 'async ' : ''}function${isGenerator ? '*' : ''} ${name}(${this.#parameters(context, ['a', 'b'])}) ${body}\n${use}`;
  }

  #body(context: Context, more: Pick<Context, 'inAsync' | 'inGenerator'>): string {
    return this.#block(this.#inner(context, { ...more, inFunction: true, inLoop: false, inClass: false }));
  }

  #parameters(context: Context, names: readonly string[]): string {
    const c = this.#choices;
    const outside = this.#inner(context, { inAsync: false, inGenerator: false });
    const params = names.slice(0, names.length - (c.oneIn(4) ? 1 : 0)).map((name) => {
      if (c.oneIn(10)) return `{ n: ${name}, ...v_${name} }`;
      return c.oneIn(10) ? `${name} = ${this.#simple(outside)}` : name;
    });
    if (c.oneIn(10)) params.push('...rest');
    return params.join(', ');
  }

  #classDeclaration(context: Context): string {
    const name = this.#newName();
    const use = this.#choices.of(`self = new ${name}(list);`, `${name}.n = count;`, `new ${name}().go();`, '');
    return `${this.#class(context, name)}\n${use}`;
  }

  #class(context: Context, name: string): string {
    const c = this.#choices;
    const method = this.#inner(context, {
      inFunction: true,
      inAsync: false,
      inGenerator: false,
      inLoop: false,
      inClass: true,
    });
    const members: string[] = [];
    const base = c.of('', '', 'EventEmitter', 'Array', 'helper', '(self)');
    const start = base === '' ? '' : 'super(a); ';
    if (c.oneIn(2)) members.push(`constructor(a) { ${start}${this.#statement(method)} this.n = a; }`);
    members.push('go(a) { this.n++; return this; }');
    const makers = [
      () => `static n = ${this.#expression(method)};`,
      () => `#secret = ${this.#simple(method)}; look() { return this.#secret++; }`,
      () => `get n() ${this.#block(method)}`,
      () => `set n(a) ${this.#block(method)}`,
      () => `async load() ${this.#block({ ...method, inAsync: true })}`,
      () => `*each() ${this.#block({ ...method, inGenerator: true })}`,
      () => `static { ${this.#statement({ ...method, inFunction: false })} }`,
      () => `['com' + 'puted'] = () => ${this.#expression(method)};`,
    ];
    for (const make of makers) if (c.oneIn(5)) members.push(make());
    return `class ${name}${base === '' ? '' : ` extends ${base}`} { ${members.join('\n')} }`;
  }

  // -------------------------------------------------------------------------------------------- expressions

  #simple(_: Context): string {
    return this.#choices.of(
      this.#name(),
      '0',
      "'text'",
      'null',
      '[]',
      '{}'.replace('{}', '({})'),
      'this',
      'undefined',
      '1n',
      '/x/g',
    );
  }

  #expression(context: Context): string {
    const c = this.#choices;
    if (context.depth >= deepest || c.isUsedUp) return this.#name();
    const inner = this.#inner(context);
    const sub = (): string => this.#expression(inner);
    switch (c.below(24)) {
      case 0:
      case 1:
        return this.#simple(context);
      case 2:
      case 3:
        return this.#member(context);
      case 4:
        return `${this.#member(context)}(${sub()})`;
      case 5:
        return `${this.#name()}(${sub()}, ${c.oneIn(4) ? `...${sub()}` : sub()})`;
      case 6:
        return `new ${this.#name()}(${sub()})`;
      case 7:
        return `(${sub()} ${c.of('+', '&&', '||', '??', '===', 'in', 'instanceof', ',')} (${sub()}))`;
      case 8:
        return `(${sub()} ? ${sub()} : ${sub()})`;
      case 9:
        return this.#object(inner);
      case 10:
        return this.#list(inner);
      case 11:
        return `\`a\${${sub()}}b\``;
      case 12:
        return `${this.#name()}\`x\${${sub()}}\``;
      case 13:
        return `(${this.#target(context)} = ${sub()})`;
      case 14:
        return `${c.of('typeof ', '!', '-', 'void ')}(${sub()})`;
      case 15:
        return context.inAsync ? `(await ${sub()})` : sub();
      case 16:
        return context.inGenerator ? `(yield${c.of(' ', '* ')}${sub()})` : sub();
      case 17:
        return `(${this.#class(inner, '')})`;
      case 18:
        return `${this.#name()}?.${c.in(properties)}?.(${sub()})`;
      case 19:
        return this.#asynchronous(inner);
      case 20:
        return this.#isModule
          ? c.of(`import('./lib.mjs')`, 'import.meta.url')
          : `require(${c.of("'./lib'", "'fs'", "'./' + a", '__filename')})`;
      case 21:
        return `Object.${c.of('assign', 'keys', 'create', 'freeze', 'defineProperty', 'entries')}(${sub()}, ${sub()})`;
      default:
        return this.#functionExpression(inner, ['a', 'b']);
    }
  }

  #object(context: Context): string {
    const c = this.#choices;
    const makers = [
      () => `${c.in(properties)}: ${this.#expression(context)}`,
      () => this.#name(),
      () => `...${this.#expression(context)}`,
      () => `[${this.#expression(context)}]: ${this.#expression(context)}`,
      () => `go(a) ${this.#body(context, { inAsync: false, inGenerator: false })}`,
      () => `get n() ${this.#body(context, { inAsync: false, inGenerator: false })}`,
      () => `async *each() ${this.#body(context, { inAsync: true, inGenerator: true })}`,
    ];
    return `({ ${Array.from({ length: c.below(4) }, () => c.in(makers)()).join(', ')} })`.replace(
      /__proto__: /g,
      '"__proto__": ',
    );
  }

  #list(context: Context): string {
    const items = Array.from(
      { length: this.#choices.below(4) },
      () => this.#choices.of('', '...') + this.#expression(context),
    );
    return `[${items.join(', ')}]`;
  }

  #member(context: Context): string {
    const c = this.#choices;
    const base = c.of(
      this.#name(),
      'this',
      'app.locals',
      'module',
      'cache.list',
      'globalThis',
      this.#isModule ? 'self' : 'exports',
    );
    if (c.oneIn(5)) return `${base}[${this.#expression(this.#inner(context))}]`;
    return `${base}.${c.in(properties)}`;
  }

  #target(context: Context): string {
    return this.#choices.oneIn(2) ? this.#member(context) : this.#name();
  }

  #pattern(context: Context): string {
    const c = this.#choices;
    if (context.depth >= deepest) return `{ n: ${this.#newName()} }`;
    const inner = this.#inner(context);
    switch (c.below(5)) {
      case 0:
        return `{ n: ${this.#newName()}, list: [${this.#newName()}] }`;
      case 1:
        return `[${this.#newName()}, , ...${this.#newName()}]`;
      case 2:
        return `{ [${this.#expression(inner)}]: ${this.#newName()} = ${this.#expression(inner)} }`;
      case 3:
        return `{ n: ${this.#newName()}, ...${this.#newName()} }`;
      default:
        return `[${this.#pattern(inner)}]`;
    }
  }
}
