/**
 * View engines: what `res.render()` may run and look at, though nobody gave it to the app by a variable in sight.
 *
 *     app.set('view engine', 'hbs')          Express loads the package itself, and takes its `__express`
 *     nunjucks.configure({ express: app })   the environment puts itself on the app
 *
 * Reads: origins, models.
 * Gives: what may be engines of the app, or what an engine goes by; calls that render.
 */
import { type Facts, Op, type OpId, type ValueId } from '../facts.js';
import type { Models, Shape } from '../models.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

/** What an engine has for Express. */
export const ENGINE = '__express';

export const RENDER = 'render';

const SETTING = 'express.Application.set';

export interface Engines {
  /** Instances, wherever they were made. */
  readonly tokens: readonly TokenId[];
  /** Something of this package may be one. */
  isPackage(name: string): boolean;
}

/** Several ask. */
const known = new WeakMap<Origins, Engines>();

export function findEngines(facts: Facts, origins: Origins, models: Models): Engines {
  let engines = known.get(origins);
  if (engines === undefined) known.set(origins, (engines = listEngines(facts, origins, models)));
  return engines;
}

function listEngines(facts: Facts, origins: Origins, models: Models): Engines {
  const { tokens } = origins;
  const unknown = findUnknown(facts, origins, models);
  const isPackage = (name: string): boolean => models.renders(name) || unknown.has(name);
  const found: TokenId[] = [];
  for (let id = 1; id < tokens.length; id++) {
    const token = tokens.get(id);
    if (token.kind === 'external' && token.site >= 0 && isPackage(token.shape.package)) found.push(id);
  }
  return { tokens: found, isPackage };
}

/** Packages without a model that have made an engine, that know an app, or that Express is told to load. */
function findUnknown(facts: Facts, origins: Origins, models: Models): ReadonlySet<string> {
  const found = new Set<string>();
  const isUnknown = ({ package: name, isOfNode }: Shape): boolean =>
    name !== '' && !isOfNode && !models.isModelled(name);
  for (const { rupture, value } of origins.callbacks) {
    if (rupture.runBy !== RENDER) continue;
    for (const id of origins.tokensOf(value)) {
      const shape = shapeOf(origins, id);
      if (shape !== null && isUnknown(shape)) found.add(shape.package);
    }
  }
  const { callOp } = facts;
  for (let call = 0; call < callOp.length; call++) {
    const op = callOp.get(call);
    for (const id of origins.calleeTokens(op)) {
      const shape = shapeOf(origins, id);
      if (shape?.path === SETTING) {
        const name = facts.callCount.get(call) < 2 ? undefined : facts.strings.get(facts.argument(call, 1));
        if (name !== undefined && !models.isModelled(name)) found.add(name);
      }
      if (shape === null || found.has(shape.package) || !isUnknown(shape)) continue;
      if (isGivenApp(op, facts, origins, models)) found.add(shape.package);
    }
  }
  return found;
}

function isGivenApp(op: OpId, facts: Facts, origins: Origins, models: Models): boolean {
  const isApp = (value: ValueId, depth: number): boolean =>
    origins.tokensOf(value).some((id) => {
      const shape = shapeOf(origins, id);
      if (shape !== null && models.oneOf(shape) !== null) return true;
      const inner = depth === 0 ? undefined : origins.tokens.knownProperties(id);
      return [...(inner?.values() ?? [])].some((each) => isApp(each, depth - 1));
    });
  const call = facts.d.get(op);
  for (let index = 0; index < facts.callCount.get(call); index++)
    if (isApp(facts.argument(call, index), 1)) return true;
  return false;
}

export function listRenderings(facts: Facts, origins: Origins, models: Models): readonly OpId[] {
  const found: OpId[] = [];
  const { callOp } = facts;
  for (let call = 0; call < callOp.length; call++)
    if (renders(callOp.get(call), facts, origins, models)) found.push(callOp.get(call));
  return found;
}

/** Of what nobody knows the name tells. */
export function renders(op: OpId, facts: Facts, origins: Origins, models: Models): boolean {
  const isNew = facts.kind.get(op) === Op.construct;
  const isNamed = facts.kind.get(op) === Op.method && facts.atomName(facts.c.get(op)) === RENDER;
  const callees = origins.calleeTokens(op);
  if (callees.length === 0) return isNamed && origins.calleesOf(op).length === 0;
  return callees.some((id) => {
    const shape = shapeOf(origins, id);
    if (shape === null) return isNamed && origins.tokens.get(id).kind === 'unknown';
    return models.call(shape, isNew)?.runs === RENDER;
  });
}

function shapeOf({ tokens }: Origins, id: TokenId): Shape | null {
  let token = tokens.get(id);
  while (token.kind === 'bound') token = tokens.get(token.target);
  return token.kind === 'external' ? token.shape : null;
}
