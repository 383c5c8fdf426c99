/**
 * Sentences and lists of an explanation.
 */
import type { FluxionId, Place, StateVariable } from '../program.js';
import { type Line, text } from './explain-lines.js';
import type { Group } from './explain-model.js';

export function placeText(place: Place): string {
  return `${place.module}:${place.line}`;
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const MOST_PLACES = 6;
const MOST_NAMES = 12;

/** Several places on one line of source are one place to go to. */
export function joinPlaces(places: readonly Place[]): string {
  return cutList([...new Set(places.map(placeText))], MOST_PLACES);
}

export function listText(names: readonly string[]): string {
  return cutList(names, MOST_NAMES);
}

function cutList(items: readonly string[], most: number): string {
  // Never "and 1 more" where the one would have fitted.
  if (items.length <= most + 1) return items.join(', ');
  return `${items.slice(0, most).join(', ')} and ${items.length - most} more`;
}

/** Why these groups are groups, a sentence for each; what has no variable's name to be called by is told together. */
export function groupSentences(groups: readonly Group[], of: FluxionId): readonly string[] {
  const named: string[] = [];
  const unnamed: Group[] = [];
  for (const group of groups) {
    const first = chooseVariable(group, of);
    if (first === undefined) unnamed.push(group);
    else named.push(groupSentence(group, first, of));
  }
  return unnamed.length === 0 ? named : [...named, unnamedSentence(unnamed, of)];
}

/** A write and a read of the variable, and what else of the group the fluxion uses. */
function groupSentence(group: Group, first: StateVariable, of: FluxionId): string {
  const others = new Set(group.variables.filter(({ fluxions }) => fluxions.includes(of)).map(({ name }) => name));
  others.delete(first.name);
  const more = others.size === 0 ? '' : `; also ${listText([...others].map((name) => `"${name}"`))}`;
  const kept = group.tag === null ? ', and kept from one message to the next' : '';
  return `${variableSentence(first)}${kept}${more}`;
}

/** One that the fluxion uses and somebody changes; else the one that somebody changes, as the fluxion comes to it by what it uses. */
function chooseVariable({ tag, variables }: Group, of: FluxionId): StateVariable | undefined {
  const changed = variables.filter(({ writes }) => writes.length > 0);
  const used = (variable: StateVariable): boolean => variable.fluxions.includes(of);
  const named = ({ name }: StateVariable): boolean => tag === `grp_${name}`;
  return changed.find(used) ?? changed.find(named) ?? variables.find(used) ?? variables[0];
}

function unnamedSentence(groups: readonly Group[], of: FluxionId): string {
  const others = new Set(groups.flatMap(({ fluxions }) => fluxions));
  others.delete(of);
  const tags = groups.flatMap(({ tag }) => tag ?? []);
  if (tags.length === 0 || others.size === 0) return 'keeps state of its own from one message to the next';
  const what = tags.length === 1 ? 'an object that no variable holds' : 'objects that no variable holds';
  return `shares ${what} (${listText(tags)}) with ${listText([...others])}`;
}

function variableSentence({ name, loc, writes, reads }: StateVariable): string {
  const write = writes[0];
  // `count += 1` is both; another place says more.
  const read = reads.find((place) => write === undefined || placeText(place) !== placeText(write)) ?? reads[0];
  if (write !== undefined && read !== undefined) {
    return placeText(write) === placeText(read)
      ? `"${name}" is written and read at ${placeText(write)}`
      : `"${name}" is written at ${placeText(write)} and read at ${placeText(read)}`;
  }
  if (write !== undefined) return `"${name}" is written at ${joinPlaces(writes.slice(0, 2))}`;
  return read === undefined
    ? `"${name}" (${placeText(loc)}) is shared`
    : `"${name}" is shared and read at ${placeText(read)}`;
}

/** Variables of one name are told as one: the `res` of forty handlers is one thing to know. */
export function variableLines(variables: readonly StateVariable[]): Line[] {
  const names = [...new Set(variables.map(({ name }) => name))];
  return names.flatMap((name) => {
    const same = variables.filter((variable) => variable.name === name);
    const writes = same.flatMap((variable) => variable.writes);
    const reads = same.flatMap((variable) => variable.reads);
    return [
      text(`"${name}", declared at ${joinPlaces(same.map(({ loc }) => loc))}`, '  '),
      ...(writes.length === 0 ? [] : [text(joinPlaces(writes), '    written at ')]),
      ...(reads.length === 0 ? [] : [text(joinPlaces(reads), '    read at    ')]),
    ];
  });
}

/** Calls are written over several lines at times. */
export function shortenTo(source: string, most: number): string {
  const chars = [...source.replace(/\s+/g, ' ')];
  return chars.length <= most ? chars.join('') : `${chars.slice(0, most - 3).join('')}...`;
}
