/**
 * What a package does that its source does not show. A model is data: one object per package, read by the analyzer;
 * `fluxion.config.js` adds models of the same shape.
 *
 * A package model describes the values that `require`/`import` of the package gives. A value is described by a
 * `Member`: what calling it does, what constructing it gives, which members it has.
 *
 * What a model does not say is unknown: a member that is not listed, a call without `returns`, a callback parameter
 * beyond `params`. Of a call that is described, everything that its keys do not say does not happen: `{ returns:
 * 'fresh' }` is a pure function. But a function among the arguments, or inside one of them, that no entry of `ruptures`
 * describes may be called at any time, with unknown arguments (`axios.get(url, { validateStatus: fn })`), and whoever
 * calls something of the package that holds it is taken to call it (`z.string().refine(fn)`, then `schema.parse(x)`).
 *
 * The receiver (`this`) of a module's own member is the module: what changes it concerns everybody who uses the package.
 */

/** Things that the outside can see. They do not keep a fluxion from being replicated; start-up code that does them is
 *  what the firewall is for. `process` means the process itself (exit, signals, working directory): home only. */
export type OutsideEffect = 'files' | 'network' | 'output' | 'process' | 'timer' | 'random' | 'clock' | 'subprocess';

/** What an argument or result is: the name of a type of `types` in some model, as `package.Type`
 *  (`express.Response`, `events.EventEmitter`, `Promise`), or one of the short words. */
export type ValueRef =
  | string
  /** a new value that shares nothing with what was given, and in which nothing is that could be asked for twice */
  | 'fresh'
  /** new plain data: whatever is in it is taken for the whole of it (`JSON.parse(text)`) */
  | 'data'
  /** the receiver itself */
  | 'this'
  /** something that the receiver holds (`map.get(k)`) */
  | 'contents'
  /** a new container with the receiver's contents in it (`list.slice()`) */
  | 'copy'
  /** the same, which is used up by whoever goes through it (`map.values()`) */
  | 'iterator'
  /** `{ value }`, of something that the receiver holds (`iterator.next()`) */
  | 'step'
  /** argument n itself: `argument 0` */
  | `argument ${number}`
  /** something that argument n holds (`_.head(list)`) */
  | `contents ${number}`
  /** the same, however deep (`_.get(object, 'a.b')`) */
  | `within ${number}`
  /** a new container with argument n's contents in it (`Object.values(o)`), or with the argument itself where that is
   *  no container (`[].concat(x)`); `copy -1` is all arguments */
  | `copy ${number}`
  /** what the callback at argument n returns (`_.attempt(fn)`) */
  | `result ${number}`
  /** a new container of what the callback at argument n returns (`list.map(fn)`) */
  | `results ${number}`
  | `instance ${number}`
  /** a function: calling it is calling argument n (`_.negate(fn)`); what else the model says of the call holds for each
   *  call of that function too: the result of `_.once(fn)` is `stateful` */
  | `bound argument ${number}`
  /** a function that calls argument n, a function with a callback as last argument, and gives a promise instead */
  | `promisified argument ${number}`
  /** new plain data formed of argument n, by what the receiver holds: in it may be what that argument holds, it may be the argument itself, and what functions
   *  give that the receiver or another argument holds (`schema.parse(body)`) */
  | `formed ${number}`
  /** one of these, only where the call has no argument n (`list.reduce(fn)`): `contents without 1` */
  | `${string} without ${number}`
  /** one of these, or some of these in one container: `this | result 0` */
  | `${string} | ${string}`
  /** a new array of values of that type: `list of mongoose.Document` */
  | `list of ${string}`
  /** nothing is known of it */
  | 'unknown';

export interface Rupture {
  /** `start`: called again and again from outside; `post`: called once, later; `sync`: called in place, before the call
   *  returns (`list.forEach`), which is no rupture point but tells what the callback gets. */
  readonly kind: 'start' | 'post' | 'sync';
  /** Which arguments are callbacks: an index; `last`, the last argument if it is a function; `functions`, every
   *  function among the arguments from `from` on, nested arrays included. */
  readonly callback: number | 'last' | 'functions';
  readonly from?: number;
  /** What the callback is called with, in order. `contents` is something that the receiver holds. */
  readonly params?: readonly ValueRef[];
  /** For `functions`: what a callback with four parameters (an Express error handler) is called with. */
  readonly errorParams?: readonly ValueRef[];
  /** Requests are what Fluxion spreads over loops; everything else that starts stays where it was started. */
  readonly request?: boolean;
  /** Argument that names the flow in labels and ids: a route's path, an emitter's event. */
  readonly label?: number;
  /** Routers among the arguments are mounted: the label goes in front of the labels of what they register. */
  readonly mounts?: boolean;
  /** The callback's `this` is the receiver. */
  readonly thisIsReceiver?: boolean;
  /** The callback's `this` is what the call gives. */
  readonly thisIsResult?: boolean;
  /** Nothing comes to it but what `params` says, not what the call, or another one of the package, is given: `all`. Of `copies` that is so for the
   *  parameters, which are new; what is in them may be anything. */
  readonly exactly?: 'all' | 'copies';
  /** What the callback's `this` is, where it is neither. */
  readonly thisIs?: ValueRef;
  /** The callback is what the argument holds under this name (`new Transform({ transform() {} })`), or under one name below another
   *  (`*.custom.options`); `*`, under any. */
  readonly within?: string;
  /** It is called for requests, and where the program itself uses what the call gives (`chain.run(req)`, `graphql({ schema })`). */
  readonly held?: boolean;
  /** Functions in what the callback gives are called as well, with who knows what: a resolver may give an object with methods. */
  readonly callsResult?: boolean;
  /** Of `sync`: the callback is run not by this call, but by calls that run this (`Call.runs`). */
  readonly runBy?: string;
}

export interface Call {
  /** Callbacks by which the call cuts the program. A call may have several (`promise.then(ok, failed)`); an argument
   *  that two entries describe is described by the first. */
  readonly ruptures?: readonly Rupture[];
  readonly returns?: ValueRef;
  /** The call gives a promise: `await` and `.then` on it are rupture points. `returns` is then what it resolves to. */
  readonly promise?: boolean;
  /** When called without the callback it gives a promise (`pg.query(text)`). */
  readonly promiseWithoutCallback?: boolean;
  /** Which of receiver (`this`) and arguments it changes; `-1` is all arguments. */
  readonly mutates?: readonly ('this' | number)[];
  /** What it changes of its arguments may be any object within them (`_.set(object, 'a.b', x)`), and it puts there what it keeps. */
  readonly deep?: boolean;
  /** Arguments that stay reachable (`list.push(x)`, `map.set(k, v)`); `-1` is all of them. They stay reachable from
   *  the receiver, from every argument that `mutates` names (`Object.assign(target, x)`), and from what the call makes
   *  (`new Map(entries)`, a middleware that holds its options). */
  readonly keeps?: readonly number[];
  /** These it keeps in what it makes, and nowhere else: of a query that is made the database knows nothing (`db('books').where(filter)`). */
  readonly keepsApart?: boolean;
  /** Arguments of which it gives another view: to change what it gives is to change those (`new Uint8Array(buffer)`). */
  readonly views?: readonly number[];
  readonly does?: readonly OutsideEffect[];
  /** It keeps or reads hidden state that all callers share (`uid.next()`): owner only. What such a call makes (a
   *  session middleware with its store, a database in memory) holds that state: who uses it is with the owner. */
  readonly stateful?: boolean;
  /** As `stateful`, where it is given more arguments than so many: what it gives then is more than the other loop could be told. */
  readonly statefulBeyond?: number;
  /** As `stateful`, unless none of these packages can be had, and no code is handed over under these names: a mapper is
   *  `stateful` where it may have a database in memory. */
  readonly statefulWith?: { readonly installed: readonly string[]; readonly options: readonly string[] };
  /** What it gives, when called again at the start-up of a replica, serves as well as home's (a lazy pool, a client, a
   *  middleware without memory). */
  readonly connects?: boolean;
  /** Its arguments are data: of functions inside them none is called, other than those that the language calls (`toJSON`). */
  readonly data?: boolean;
  /** It runs the functions that were given elsewhere to be run by calls that say so (`runBy`): templates call what `app.locals` has. */
  readonly runs?: string;
  /** It asks for the context that it is called in: a request that is sent to another loop takes that along. */
  readonly asksContext?: boolean;
  /** Its errors hold live objects, which no message carries. */
  readonly failsLive?: boolean;
  /** It goes on with what it reads some time later, which a replica's start-up never comes to: who uses the package stays home. */
  readonly finishesLater?: boolean;
  /** What it gives is also held elsewhere, in a registry for instance: to change it is to change that. `kept`: only what the program has put there by
   *  a call that says `comesOut`. */
  readonly shared?: boolean | 'kept';
  /** Arguments that calls of the package give again (`z.array().default(list)`), if they are objects. */
  readonly comesOut?: readonly number[];
  /** Arguments that requests have from then on, by the names under which they have them: `done(null, user)` of a passport strategy. */
  readonly hangsOnRequests?: { readonly [name: string]: number };
  /** Arguments that come out of the package after this call, once, themselves or what is in them (`ctx.addIssue(issue)`). */
  readonly comesOutOnce?: readonly number[];
  /** It makes middleware that puts values of these types on requests and responses. They hold what the call was given: `req.log` runs the `mixin`
   *  among the options of its logger. */
  readonly puts?: readonly Put[];
}

/** What middleware puts on each request or response. */
export interface Put {
  /** `express.Request` */
  readonly on: ValueRef;
  readonly name: string;
  readonly is: ValueRef;
}

export interface Member {
  /** The value is an instance of this type. */
  readonly is?: ValueRef;
  readonly call?: Call;
  readonly construct?: Call;
  readonly members?: { readonly [name: string]: Member };
  /** What the program puts there, values of this type have as members: the methods of a schema its documents have. */
  readonly lends?: string;
  /** What members that are not listed do; without it they are unknown. */
  readonly others?: Call;
  /** Functions that are put here are run as part of calls that run this (`Call.runs`). */
  readonly runBy?: string;
  /** As of types. */
  readonly holdsStored?: boolean;
  /** The last call of such a value left it there for whoever asks: who reads it depends on all who make such calls. */
  readonly left?: boolean;
  /** What the program puts here is kept by what this is a member of: `app.settings.title` is what `app.get('title')` gives. */
  readonly isKept?: boolean;
  /** Functions that the program puts here, or in objects that it puts here, are called with these. */
  readonly calledWith?: readonly ValueRef[];
}

/** What the listeners of one event get; refines `on`, `once` and their like of `events.EventEmitter`. */
export interface EventModel {
  readonly params?: readonly ValueRef[];
  readonly request?: boolean;
  /** The event comes at most once in the life of the emitter: its listener continues one flow (`post`). */
  readonly once?: boolean;
}

/** What a type says, the types that extend it say too, unless they say otherwise; members and events are added up. */
export interface TypeModel {
  readonly extends?: ValueRef;
  readonly members: { readonly [name: string]: Member };
  /** Values of this type can be called (`next()`, `app(req, res)`) or constructed (`new User()`). */
  readonly call?: Call;
  readonly construct?: Call;
  readonly events?: { readonly [event: string]: EventModel };
  /** Two values of this type are told apart by where they were made (routers, apps, servers). */
  readonly identity?: boolean;
  /** Values of this type are taken for one and the same, as a request leads to it (`req.app`). */
  readonly one?: boolean;
  /** What methods do that are neither listed nor inherited; without it they are unknown. */
  readonly others?: Call;
  /** What members are that are neither listed nor inherited: `prisma.user`, and any other table. */
  readonly othersAre?: ValueRef;
  /** What a method does whose name the program puts together (`app[method](path, handler)`); without it that is unknown. */
  readonly computed?: Call;
  /** These are all members: what else hangs on such a value was put there by the program. Not said of a type that
   *  extends it. */
  readonly complete?: boolean;
  /** A member that is neither listed nor inherited is what the program puts there under that name, if it does; else it is unknown. */
  readonly holdsStored?: boolean;
  /** Members that are neither listed nor inherited are plain data that others put there (a session). */
  readonly holdsData?: boolean;
  /** What `await` of such a value and the first parameter of its `then` give, for types that extend `Promise`. */
  readonly resolves?: ValueRef;
  /** The argument of the call that makes such a value which goes in front of its labels (`app.route('/users')`). */
  readonly label?: number;
  /** A message can carry a value of this type to another loop as what it is: by structured clone, or by the bridge. */
  readonly travels?: 'clone' | 'bridge';
  /** Bound to the connection of one request: who uses it acts on the reply. */
  readonly reply?: boolean;
  /** It has one connection, over which all is done in the order in which it was asked. */
  readonly ordered?: boolean;
  /** Belongs to one request. */
  readonly perRequest?: boolean;
  /** What its methods keep, and give again, hangs on the request that is at work. */
  readonly keepsForRequest?: boolean;
  /** A request leads to it, and it outlives the request (`req.socket`): what the program keeps on it stays where it is. */
  readonly outlivesRequest?: boolean;
}

export interface PackageModel {
  /** `express`, `fs`, `@scope/name`; a core module without `node:`. A sub-path with a value of its own has a model of
   *  its own: `fs/promises`, `mysql2/promise`. */
  readonly name: string;
  /** What `require` gives. A default import gives its member `default` where there is one, else the value itself. */
  readonly module: Member;
  /** `lodash/map` gives the member `map` of `lodash`. */
  readonly memberPaths?: boolean;
  /** Its settings are those of this package: who changes the one's changes the other's (`moment-timezone`: `moment`). */
  readonly settingsOf?: string;
  /** Once it is loaded, routers put functions of its own around what they are given, which call it and nothing else. */
  readonly wrapsHandlers?: boolean;
  /** What it makes may be a view engine of an app, or what one goes by: whoever renders depends on it. */
  readonly renders?: boolean;
  /** What its middleware puts on requests some time after it has passed them on. */
  readonly setsLater?: readonly string[];
  /** What its middleware puts on requests that functions of the app have given it, and that the app may keep. */
  readonly putsGiven?: readonly string[];
  readonly types?: { readonly [name: string]: TypeModel };
}
