/**
 * Reads:   models of packages (data) and the user's own.
 * Gives:   shapes: what is known of a value that comes from outside the app's modules, by where it came from.
 */
import { isBuiltin } from 'node:module';
import type { Call, Member, PackageModel, TypeModel } from '../models/types.js';

/** What a value from outside is: a member of a package's tree, an instance of a modelled type, or a path that no model
 *  describes (`marked.parse()`). */
export interface Shape {
  /** How it was reached: `express.Router`, `express()`, `fs.readFile`. */
  readonly path: string;
  /** The package that it comes from; '' for the language itself. */
  readonly package: string;
  /** The package is a module of Node: who asks Node itself has it search its tables each time. */
  readonly isOfNode: boolean;
  readonly member: Member | null;
  readonly typeName: string | null;
  readonly type: TypeModel | null;
}

/** `without`: only where the call has no argument of that index. */
export type Ref = RefOf & { readonly without?: number };

type RefOf =
  | { readonly kind: 'fresh' | 'data' | 'this' | 'contents' | 'copy' | 'iterator' | 'step' | 'unknown' }
  | {
      readonly kind:
        | 'argument'
        | 'contentsOf'
        | 'within'
        | 'copyOf'
        | 'formed'
        | 'result'
        | 'results'
        | 'instance'
        | 'bound'
        | 'promisified';
      readonly index: number;
    }
  | { readonly kind: 'type' | 'listOf'; readonly name: string };

const deepest = 4;
const LIST_OF = 'list of ';

export class Models {
  readonly #packages = new Map<string, PackageModel>();
  #lentTo: ReadonlySet<string> | null = null;
  readonly #shapes = new Map<string, Shape>();
  readonly #types = new Map<string, Shape | null>();
  readonly #refs = new Map<string, readonly Ref[]>();
  readonly #oneOf = new Map<Shape, string | null>();
  readonly #one: string[] = [];
  readonly #data = new Set<Shape>();
  /** With the name under which it hangs on what the model describes; empty where paths are cut off. */
  readonly #ofOthers = new Map<Shape, string>();
  readonly #exports = new Set<Shape>();
  readonly #calls = new Map<Shape, Call | null>();
  readonly #constructs = new Map<Shape, Call | null>();
  readonly #members = new Map<Shape, Map<string, Shape | null>>();
  readonly #isInstalled: (owner: string, name: string) => boolean;
  readonly globals: { readonly [name: string]: Member };
  readonly byMethodName: ReadonlyMap<string, Call>;

  constructor(options: {
    readonly packages: readonly PackageModel[];
    readonly globals: { readonly [name: string]: Member };
    readonly byMethodName: ReadonlyMap<string, Call>;
    /** The package `owner` can load the package `name`. */
    readonly isInstalled?: (owner: string, name: string) => boolean;
  }) {
    this.globals = options.globals;
    this.byMethodName = options.byMethodName;
    this.#isInstalled = options.isInstalled ?? (() => true);
    // Later ones win: what the user says of a package replaces what we know of it.
    for (const model of options.packages) this.#packages.set(model.name, model);
    for (const model of this.#packages.values()) {
      for (const [name, type] of Object.entries(model.types ?? {}))
        if (type.one === true) this.#one.push(`${model.name}.${name}`);
    }
  }

  /** The value that `require(name)` gives; `name` may have a sub-path. */
  package(name: string, subpath: string): Shape {
    const shape = this.#package(name, subpath);
    if (shape.typeName === null) this.#exports.add(shape);
    return shape;
  }

  /** What a package exports, and what hangs on that: there is one of it, whoever asks. */
  isExport(shape: Shape): boolean {
    return this.#exports.has(shape);
  }

  #package(name: string, subpath: string): Shape {
    const full = subpath === '' ? name : `${name}/${subpath}`;
    const model = this.#packages.get(full);
    if (model !== undefined) return this.#shape(full, name, model.module, null);
    const whole = subpath === '' ? undefined : this.#packages.get(name);
    if (whole?.memberPaths === true) {
      const member = whole.module.members?.[subpath.replace(/\.[cm]?js$/, '')];
      if (member !== undefined) return this.#shape(full, name, member, null);
    }
    return this.#shape(full, name, null, null);
  }

  /** Packages all of whose middleware may be made once for each loop. */
  repeatable(): readonly string[] {
    const found = new Map<string, boolean>();
    for (const model of this.#packages.values()) {
      const calls = JSON.stringify(model);
      if (!MAKES_MIDDLEWARE.test(calls)) continue;
      const name = packageOf(model.name);
      found.set(name, found.get(name) !== false && !REMEMBERS.test(calls));
    }
    return [...found].filter(([, isRepeatable]) => isRepeatable).map(([name]) => name);
  }

  /** Packages whose clients have one connection each. */
  ordered(): readonly string[] {
    const isOrdered = ({ types }: PackageModel): boolean =>
      Object.values(types ?? {}).some(({ ordered }) => ordered === true);
    const owners = new Set([...this.#packages.values()].filter(isOrdered).map(({ name }) => name));
    // Others make clients of these types.
    const makes = (model: PackageModel): boolean =>
      [...owners].some((owner) => JSON.stringify(model.module).includes(`"${owner}.Client"`));
    return [...this.#packages.values()]
      .filter((model) => owners.has(model.name) || makes(model))
      .map(({ name }) => name);
  }

  /** Values of this type have what the program puts elsewhere. */
  isLentTo(type: string): boolean {
    this.#lentTo ??= findLentTo(this.#packages.values());
    return this.#lentTo.has(type);
  }

  /** What it does not list the program may have put there. */
  holdsStored({ member, type }: Shape): boolean {
    return member?.holdsStored === true || type?.holdsStored === true;
  }

  /** It makes functions that call what they were made of, and nothing else. */
  wraps(name: string): boolean {
    const model = this.#packages.get(name);
    return model !== undefined && (model.wrapsHandlers === true || WRAPS.test(JSON.stringify(model.module)));
  }

  /** The package whose settings are its own. */
  settingsOf(name: string): string {
    return this.#packages.get(name)?.settingsOf ?? name;
  }

  /** Its values may be what the app renders by. */
  renders(name: string): boolean {
    return this.#packages.get(name)?.renders === true;
  }

  setsLater(name: string): readonly string[] {
    return this.#packages.get(name)?.setsLater ?? [];
  }

  putsGiven(name: string): readonly string[] {
    return this.#packages.get(name)?.putsGiven ?? [];
  }

  isModelled(name: string): boolean {
    return this.#packages.has(name);
  }

  global(name: string): Shape | null {
    const member = Object.hasOwn(this.globals, name) ? this.globals[name] : undefined;
    return member === undefined ? null : this.#shape(name, '', member, null);
  }

  /** The shape of an instance of `package.Type`; types of the language have no package. */
  type(name: string): Shape | null {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const dot = name.lastIndexOf('.');
    const owner = dot === -1 ? 'builtins' : name.slice(0, dot);
    const model = this.#packages.get(owner)?.types?.[name.slice(dot + 1)];
    const shape = model === undefined ? null : this.#shape(name, dot === -1 ? '' : owner, null, { name, model });
    this.#types.set(name, shape);
    return shape;
  }

  /** What property `name` of such a value is; null where the shape knows of none. */
  member(shape: Shape, name: string): Shape | null {
    let members = this.#members.get(shape);
    if (members === undefined) this.#members.set(shape, (members = new Map()));
    let found = members.get(name);
    if (found === undefined) {
      members.set(name, (found = this.#findMember(shape, name)));
      if (found !== null && found.typeName === null && this.#exports.has(shape)) this.#exports.add(found);
    }
    return found;
  }

  #findMember(shape: Shape, name: string): Shape | null {
    const path = `${shape.path}.${name}`;
    if (name === 'prototype') return this.#prototype(shape);
    if (name === 'constructor' || name === '__proto__') {
      const above = this.inheritedBy(shape);
      if (above !== null) return above;
    }
    if (this.isEnvironment(shape)) return null;
    if (this.isData(shape)) return shape;
    const own = this.#ownMember(shape, name);
    if (own !== null) {
      const found = this.#fromMember(path, shape.package, own);
      const isPlain =
        own.is === undefined && own.call === undefined && own.construct === undefined && own.members === undefined;
      if (isPlain && this.typeThat(shape, (type) => type.perRequest === true) !== null) this.#data.add(found);
      return found;
    }
    // A package without a model: all that is known is the way there.
    if (shape.member === null && shape.type === null && shape.package !== '') return this.#onwards(shape, path);
    const others = shape.member?.others;
    if (others !== undefined) return this.#shape(path, shape.package, { call: others }, null);
    if (shape.type !== null || shape.member?.is !== undefined) return this.#inherited(shape, name);
    // `import x from 'commonjs'` gives the whole module.
    if (name === 'default') return shape;
    if (shape.path === 'globalThis' || shape.path === 'global') return this.global(name);
    if (this.holdsStored(shape)) return this.#unlisted(path, shape.package, name);
    return shape.package === '' ? null : this.#unknown(path, shape.package);
  }

  /** What a member is whose name is not known; null where its type does not say. */
  computed(shape: Shape): Shape | null {
    const call = this.typeThat(shape, (type) => type.computed !== undefined)?.computed;
    return call === undefined ? null : this.#shape(`${shape.path}.*`, shape.package, { call }, null);
  }

  /** `AsyncResource.bind` is none of what all functions have under that name. */
  lists(shape: Shape, name: string): boolean {
    return this.#ownMember(shape, name) !== null;
  }

  #ownMember(shape: Shape, name: string): Member | null {
    const members = shape.type?.members ?? shape.member?.members;
    return members !== undefined && Object.hasOwn(members, name) ? (members[name] as Member) : null;
  }

  #inherited(shape: Shape, name: string): Shape | null {
    const parent = shape.type?.extends ?? shape.member?.is;
    const type = parent === undefined ? null : this.type(parent);
    const found = type === null ? null : this.member(type, name);
    if (found !== null && !this.isUnknown(found)) return found;
    if (shape.type?.holdsData === true) {
      const data = this.#shape(`${shape.path}.${name}`, shape.package, {}, null);
      this.#data.add(data);
      return data;
    }
    if (shape.type?.othersAre !== undefined)
      return this.#fromMember(`${shape.path}.${name}`, shape.package, { is: shape.type.othersAre });
    if (shape.type?.others !== undefined) {
      return this.#shape(`${shape.path}.${name}`, shape.package, { call: shape.type.others }, null);
    }
    if (this.isComplete(shape)) return null;
    if (found !== null && parent !== undefined && shape.type === null) return found;
    return shape.package === '' ? null : this.#unlisted(`${shape.path}.${name}`, shape.package, name);
  }

  /** The members listed are all there are. */
  isComplete({ type, member }: Shape): boolean {
    const is = type === null && member?.is !== undefined ? this.type(member.is) : null;
    return (type ?? is?.type)?.complete === true;
  }

  /** What a package's type does not list: something that the package does not say, or that others put there. */
  #unlisted(path: string, owner: string, name: string): Shape {
    const shape = this.#unknown(path, owner);
    const known = this.#ofOthers.get(shape);
    this.#ofOthers.set(shape, known === undefined || known === name ? name : '');
    return shape;
  }

  #onwards(shape: Shape, path: string): Shape {
    const name = this.#ofOthers.get(shape);
    return name === undefined ? this.#unknown(path, shape.package) : this.#unlisted(path, shape.package, name);
  }

  /** The package without a model that a value comes from, as far as it can be told; null for all others. */
  unmodelledPackage(shape: Shape): string | null {
    return shape.package === '' || !this.isUnknown(shape) || this.#ofOthers.has(shape) ? null : shape.package;
  }

  #fromMember(path: string, owner: string, member: Member): Shape {
    if (member.is !== undefined && member.call === undefined && member.members === undefined) {
      const refs = this.refs(member.is);
      const type = refs.length === 1 && refs[0]?.kind === 'type' ? this.type(refs[0].name) : null;
      if (type !== null) return type;
    }
    return this.#shape(path, owner, member, null);
  }

  /** `X.prototype`, for classes that extend X: an instance of what X constructs. */
  #prototype(shape: Shape): Shape | null {
    const own = this.#ownMember(shape, 'prototype');
    if (own !== null) return this.#fromMember(`${shape.path}.prototype`, shape.package, own);
    const made = shape.member?.construct?.returns;
    return made === undefined ? this.#unknown(`${shape.path}.prototype`, shape.package) : this.type(made);
  }

  /** What all values of this type inherit from, where a package exports that: to change it is to change the package's settings. */
  inheritedBy(shape: Shape): Shape | null {
    const { typeName } = shape;
    if (typeName === null || this.typeThat(shape, ({ perRequest }) => perRequest === true) === null) return null;
    const owner = typeName.slice(0, typeName.lastIndexOf('.'));
    for (const [name, { lends, construct }] of Object.entries(this.#packages.get(owner)?.module.members ?? {}))
      if (lends === typeName || construct?.returns === typeName) return this.member(this.package(owner, ''), name);
    return null;
  }

  /** `process.env`: what it holds is text, and text is nothing to keep track of. */
  isEnvironment(shape: Shape): boolean {
    return shape.path === 'process.Process.env' || shape.path === 'process.env';
  }

  /** Plain data of a request (`req.params`, `req.body`): nothing in it is code, whatever its names. */
  isData(shape: Shape): boolean {
    return this.#data.has(shape);
  }

  /** What a call of something without a model gives. */
  result(shape: Shape, isNew: boolean): Shape {
    const path = isNew ? `new ${shape.path}` : `${shape.path}()`;
    return this.#onwards(shape, path);
  }

  /** Something that others put on a value of a package (`req.user.name`): what it is the package does not know either. */
  isOfOthers(shape: Shape): boolean {
    return this.#ofOthers.has(shape);
  }

  /** `user` of all that hangs on `req.user`; empty if that is not known, null for what is not of others. */
  nameOfOthers(shape: Shape): string | null {
    return this.#ofOthers.get(shape) ?? null;
  }

  #unknown(path: string, owner: string): Shape {
    // Paths are cut off, so that chains of calls in a loop end; what is behind that is all the same.
    const end = `${owner}…`;
    const isFar = path.split(/[.(]/).length > deepest || path.replace(/^new /, '').startsWith(end);
    return this.#shape(isFar ? end : path, owner, null, null);
  }

  call(shape: Shape, isNew: boolean): Call | null {
    const known = isNew ? this.#constructs : this.#calls;
    let call = known.get(shape);
    if (call === undefined) known.set(shape, (call = this.#settled(this.#findCall(shape, isNew), shape.package)));
    return call;
  }

  #settled(call: Call | null, owner: string): Call | null {
    const isStateful = call?.statefulWith?.installed.some((name) => this.#isInstalled(owner, name));
    return isStateful === true ? { ...call, stateful: true } : call;
  }

  #findCall(shape: Shape, isNew: boolean): Call | null {
    // `super()`, `EventEmitter.call(this)`: what a constructor does is the same for an object that is there already.
    const callOf = (of: Member | TypeModel): Call | undefined => (isNew ? of.construct : (of.call ?? of.construct));
    if (shape.member !== null) return callOf(shape.member) ?? null;
    const type = this.typeThat(shape, (each) => callOf(each) !== undefined);
    return type === null ? null : (callOf(type) ?? null);
  }

  isUnknown(shape: Shape): boolean {
    return shape.member === null && shape.type === null;
  }

  refs(text: string): readonly Ref[] {
    let refs = this.#refs.get(text);
    if (refs === undefined) this.#refs.set(text, (refs = text.split(' | ').map(parseRef)));
    return refs;
  }

  extends(shape: Shape, ancestor: string): boolean {
    for (let name = shape.typeName; name !== null; ) {
      if (name === ancestor) return true;
      name = this.type(name)?.type?.extends ?? null;
    }
    return false;
  }

  /** The first type, from this one upwards, of which `test` is true; null if there is none. */
  typeThat(shape: Shape, test: (type: TypeModel) => boolean): TypeModel | null {
    for (let at: Shape | null = shape; at?.type != null; ) {
      if (test(at.type)) return at.type;
      at = at.type.extends === undefined ? null : this.type(at.type.extends);
    }
    return null;
  }

  /** Its type and those that this one extends. */
  above(shape: Shape | null): readonly Shape[] {
    const found: Shape[] = [];
    for (let at = shape; at?.type != null; at = at.type.extends === undefined ? null : this.type(at.type.extends))
      found.push(at);
    return found;
  }

  /** The type of which the value is the one instance, or a part of it, as far as this analysis goes: `express.Application`
   *  of `app`, `req.app` and `app.locals`. */
  oneOf(shape: Shape): string | null {
    let one = this.#oneOf.get(shape);
    if (one === undefined) this.#oneOf.set(shape, (one = this.#findOneOf(shape)));
    return one;
  }

  #findOneOf(shape: Shape): string | null {
    for (const name of this.#one) if (shape.path === name || shape.path.startsWith(`${name}.`)) return name;
    return null;
  }

  #shape(path: string, owner: string, member: Member | null, type: { name: string; model: TypeModel } | null): Shape {
    const key = `${owner}\0${path}\0${type?.name ?? ''}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      const [typeName, isOfNode] = [type?.name ?? null, isBuiltin(owner)];
      shape = { path, package: owner, isOfNode, member, typeName, type: type?.model ?? null };
      this.#shapes.set(key, shape);
    }
    return shape;
  }
}

function parseRef(whole: string): Ref {
  const [text = '', without] = whole.split(' without ');
  return without === undefined ? parsePlainRef(text) : { ...parsePlainRef(text), without: Number(without) };
}

function parsePlainRef(text: string): RefOf {
  const [word, number] = [text.replace(/ -?\d+$/, ''), Number(/-?\d+$/.exec(text)?.[0] ?? Number.NaN)];
  switch (word) {
    case 'fresh':
    case 'data':
    case 'this':
    case 'iterator':
    case 'step':
    case 'unknown':
      return { kind: word };
    case 'contents':
      return Number.isNaN(number) ? { kind: 'contents' } : { kind: 'contentsOf', index: number };
    case 'copy':
      return Number.isNaN(number) ? { kind: 'copy' } : { kind: 'copyOf', index: number };
    case 'argument':
    case 'within':
    case 'formed':
    case 'result':
    case 'results':
    case 'instance':
      return { kind: word, index: number };
    case 'bound argument':
      return { kind: 'bound', index: number };
    case 'promisified argument':
      return { kind: 'promisified', index: number };
    default:
      return text.startsWith(LIST_OF)
        ? { kind: 'listOf', name: text.slice(LIST_OF.length) }
        : { kind: 'type', name: text };
  }
}

/** `app.get('title')` reads a setting: a call that registers callbacks and is given none gives what was kept. */
export function registersNothing(call: Call, argumentCount: number): boolean {
  const ruptures = call.ruptures ?? [];
  return (
    ruptures.length > 0 &&
    ruptures.every(({ callback, from }) => callback === 'functions' && argumentCount <= (from ?? 0))
  );
}

/** Without a sub-path. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** What is cut out of a long text holds all of it. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

const WRAPS = /"returns":"bound argument \d/;
/** As what a call gives, what a type extends, or what is there. */
const MAKES_MIDDLEWARE = /"(?:returns|extends|is)":"express\.Middleware"/;
/** It has hidden state, or functions of the app, to which it comes by itself; those that it calls for requests are told one by one. */
const REMEMBERS = /"stateful":true|"kind":"(?:post|sync)"|"kind":"start"(?![^{}]*"request":true)/;

/** Types to whose values members of these models lend something, and their copies. */
function findLentTo(models: Iterable<PackageModel>): ReadonlySet<string> {
  const found = new Set<string>();
  // Many names share what is said of them.
  const seen = new Set<unknown>(models);
  for (const each of seen) {
    for (const [key, value] of Object.entries(each as object)) {
      if (typeof value === 'object' && value !== null) seen.add(value);
      else if (key === 'lends') found.add(copyOf(String(value)));
    }
  }
  return found;
}
