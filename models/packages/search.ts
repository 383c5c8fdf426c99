/** Looking for things in lists and texts, asking documents, comparing them. */
import { calls, chained, configures, constants, each, promising, pure, values, withDefault } from '../build.js';
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

/** Whoever makes one is given what makes it, as parameter and as `this`. */
const lunr = {
  name: 'lunr',
  module: {
    call: {
      returns: 'lunr.Index',
      ruptures: [{ kind: 'sync', callback: 0, params: ['lunr.Index'], thisIsResult: true }],
    },
    members: { Index: { members: pure('load', 'lunr.Index') } },
  },
  types: {
    Index: {
      identity: true,
      members: { ...pure('search toJSON'), ...chained('ref field add use k1 b'), ...values('pipeline searchPipeline') },
    },
  },
} satisfies PackageModel;

const TOKENIZERS = `WordTokenizer TreebankWordTokenizer RegexpTokenizer WordPunctTokenizer OrthographyTokenizer
  AggressiveTokenizer CaseTokenizer SentenceTokenizer`;
const STEMMERS = `PorterStemmer PorterStemmerDe PorterStemmerEs PorterStemmerFr PorterStemmerIt PorterStemmerNl
  PorterStemmerNo PorterStemmerPt PorterStemmerRu PorterStemmerSv LancasterStemmer`;
const natural = {
  name: 'natural',
  module: {
    members: {
      ...each(TOKENIZERS, { construct: { returns: 'natural.Tokenizer' } }),
      // `attach` gives all texts methods.
      ...each(STEMMERS, {
        members: { ...pure('stem tokenizeAndStem'), ...configures('attach addStopWord addStopWords removeStopWord') },
      }),
      ...each('Metaphone SoundEx DoubleMetaphone', {
        members: { ...pure('process compare'), ...configures('attach') },
      }),
      ...pure('JaroWinklerDistance LevenshteinDistance DamerauLevenshteinDistance DiceCoefficient HammingDistance'),
      NGrams: { members: pure('ngrams bigrams trigrams multrigrams') },
    },
  },
  types: { Tokenizer: { members: pure('tokenize') } },
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
  natural,
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
        ...calls(JSONPATCH, { mutates: [0], deep: true, keeps: [-1], returns: 'unknown' }),
        ...pure('compare'),
        ...pure('deepClone'),
        ...pure('getValueByPointer', 'unknown'),
        ...pure('escapePathComponent unescapePathComponent validate validator'),
      },
    }),
  ),
  // Expressions that were made of patterns are remembered, which nobody sees.
  one('micromatch', {
    call: { returns: 'fresh' },
    members: {
      ...pure('match isMatch any not some every all contains capture makeRe scan parse braces braceExpand matchKeys'),
      ...pure('matcher', 'picomatch.Matcher'),
    },
  }),
  {
    name: 'picomatch',
    module: {
      call: { returns: 'picomatch.Matcher', keeps: [-1] },
      members: pure('test matchBase isMatch parse scan compileRe makeRe toRegex'),
    },
    types: { Matcher: { call: { returns: 'fresh' }, members: {} } },
  },
  one('minimatch', {
    call: { returns: 'fresh' },
    members: pure('minimatch match makeRe braceExpand escape unescape'),
  }),
  one('string-similarity', { members: pure('compareTwoStrings findBestMatch') }),
  one('fastest-levenshtein', { members: pure('distance closest') }),
  one('levenshtein', { construct: { returns: 'fresh' }, call: { returns: 'fresh' } }),
];
