/** Looking for things in lists and texts, asking documents, comparing them. */
import { calls, chained, configures, constants, each, promising, pure, withDefault } from '../build.js';
import type { Member, PackageModel } from '../types.js';

const one = (name: string, module: Member): PackageModel => ({ name, module });

/** What is found are the things that were put in. */
const fuse = {
  name: 'fuse.js',
  module: withDefault({
    construct: { returns: 'fuse.js.Index', keeps: [-1] },
    members: { ...pure('createIndex parseIndex'), ...configures('use'), ...constants('version') },
  }),
  types: {
    Index: {
      identity: true,
      members: {
        ...pure('search', 'unknown | contents'),
        ...chained('add remove removeAt setCollection', { returns: 'unknown' }),
        ...pure('getIndex', 'this'),
      },
    },
  },
} satisfies PackageModel;

const lunr = {
  name: 'lunr',
  module: {
    call: {
      returns: 'lunr.Index',
      ruptures: [{ kind: 'sync', callback: 0, params: ['lunr.Builder'] }],
    },
    members: {
      Index: { members: pure('load', 'lunr.Index') },
      ...calls('tokenizer', { returns: 'fresh' }),
    },
  },
  types: {
    Index: { identity: true, members: { ...pure('search toJSON'), ...calls('query', { returns: 'fresh' }) } },
    Builder: { members: chained('ref field add use k1 b') },
  },
} satisfies PackageModel;

const minisearch = {
  name: 'minisearch',
  module: withDefault({
    construct: { returns: 'minisearch.Index', keeps: [-1] },
    members: {
      ...each('loadJSON loadJS', { call: { returns: 'minisearch.Index', keeps: [1] } }),
      ...constants('wildcard'),
    },
  }),
  types: {
    Index: {
      identity: true,
      members: {
        ...pure('search autoSuggest getStoredFields', 'unknown | contents'),
        ...pure('has toJSON'),
        ...chained('add addAll remove removeAll discard discardAll replace'),
        ...promising('addAllAsync vacuum', { mutates: ['this'], keeps: [-1] }),
        ...constants('documentCount termCount dirtCount dirtFactor isVacuuming'),
      },
    },
  },
} satisfies PackageModel;

const JSONPATCH = 'applyPatch applyOperation applyReducer';

export const searchModels: readonly PackageModel[] = [
  fuse,
  lunr,
  minisearch,
  // Options are filled in.
  one(
    'diff',
    withDefault({
      members: {
        ...pure(`diffChars diffWords diffWordsWithSpace diffLines diffTrimmedLines diffSentences diffCss diffJson
          convertChangesToXML convertChangesToDMP applyPatch parsePatch formatPatch`),
        ...pure('diffArrays reversePatch', 'unknown'),
        ...calls('canonicalize', { mutates: [1, 2] }),
        ...calls('createPatch', { mutates: [5] }),
        ...calls('createTwoFilesPatch structuredPatch', { mutates: [6] }),
      },
    }),
  ),
  one('jmespath', { members: pure('search', 'unknown') }),
  {
    name: 'jsonata',
    module: withDefault({ call: { returns: 'jsonata.Expression' } }),
    types: {
      Expression: {
        identity: true,
        members: {
          // Variables that an expression sets outside of a block are there when it is evaluated again.
          ...promising('evaluate', { returns: 'unknown', mutates: ['this'] }),
          ...chained('assign registerFunction'),
          ...pure('ast errors'),
        },
      },
    },
  },
  one(
    'fast-json-patch',
    withDefault({
      members: {
        ...calls(JSONPATCH, { mutates: [0], keeps: [-1], returns: 'unknown' }),
        ...pure('compare'),
        ...pure('deepClone'),
        ...pure('getValueByPointer', 'unknown'),
        ...pure('escapePathComponent unescapePathComponent validate validator'),
      },
    }),
  ),
  one('string-similarity', { members: pure('compareTwoStrings findBestMatch') }),
  one('fastest-levenshtein', { members: pure('distance closest') }),
  one('levenshtein', { construct: { returns: 'fresh' }, call: { returns: 'fresh' } }),
];
