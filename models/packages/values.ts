/** Values and lists: calendars, telephone numbers, schemas, games, functions over lists. */
import type { Members } from '../build.js';
import {
  callbackOrPromise,
  calls,
  chained,
  configures,
  constants,
  each,
  listed,
  promising,
  pure,
  sync,
  values,
  withDefault,
} from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';

const fresh: Call = { returns: 'fresh' };
const one = (name: string, module: Member): PackageModel => ({ name, module });

const RULE: Call = { returns: 'rrule.Rule', does: ['clock'] };
const rrule = {
  name: 'rrule',
  module: withDefault({
    members: {
      RRule: {
        construct: RULE,
        members: {
          ...calls('fromText fromString', RULE),
          ...pure('parseText parseString optionsToString'),
          ...constants(`FREQUENCIES YEARLY MONTHLY WEEKLY DAILY HOURLY MINUTELY SECONDLY MO TU WE TH FR SA SU`),
        },
      },
      RRuleSet: { construct: { returns: 'rrule.RuleSet' } },
      ...calls('rrulestr', { returns: 'rrule.RuleSet', does: ['clock'] }),
      ...pure('datetime'),
      ...constants('Frequency ALL_WEEKDAYS'),
    },
  }),
  types: {
    // Dates are given out as copies; what is remembered of them never shows.
    Rule: {
      members: {
        ...each('all between', { call: { returns: 'fresh' } }),
        ...pure('after before count toString toText isFullyConvertibleToText'),
        ...pure('clone', 'rrule.Rule'),
        ...values('options origOptions'),
      },
    },
    RuleSet: {
      identity: true,
      extends: 'rrule.Rule',
      members: {
        ...chained('rrule exrule rdate exdate tzid dtstart'),
        ...pure('rrules exrules rdates exdates valueOf'),
        ...pure('clone', 'rrule.RuleSet'),
      },
    },
  },
} satisfies PackageModel;

const EXPRESSION: Call = { returns: 'cron-parser.Expression', does: ['clock', 'random'] };
const cronParser = {
  name: 'cron-parser',
  module: withDefault({
    members: {
      ...calls('parseExpression', EXPRESSION),
      CronExpressionParser: { members: calls('parse', EXPRESSION) },
    },
  }),
  types: {
    Expression: {
      identity: true,
      members: {
        ...calls('next prev take', { mutates: ['this'], returns: 'cron-parser.Day' }),
        ...chained('reset'),
        ...pure('hasNext hasPrev stringify includesDate'),
        ...values('fields'),
      },
    },
    Day: {
      members: pure(`toDate toISOString toString toJSON getTime getFullYear getMonth getDate getDay getHours getMinutes
        getSeconds getUTCFullYear getUTCMonth getUTCDate getUTCDay getUTCHours getUTCMinutes getUTCSeconds`),
    },
  },
} satisfies PackageModel;

const PHONE: Call = { returns: 'libphonenumber-js.PhoneNumber' };
const phone: readonly PackageModel[] = ['', '/max', '/min', '/mobile'].map((path) => ({
  name: `libphonenumber-js${path}`,
  module: withDefault({
    call: PHONE,
    members: {
      ...each('parsePhoneNumber parsePhoneNumberWithError parsePhoneNumberFromString getExampleNumber', {
        call: PHONE,
      }),
      ...pure(`isValidPhoneNumber isPossiblePhoneNumber validatePhoneNumberLength findNumbers findPhoneNumbersInText
        isSupportedCountry getCountries getCountryCallingCode getExtPrefix formatIncompletePhoneNumber
        parseIncompletePhoneNumber parseDigits parseRFC3966 formatRFC3966`),
      AsYouType: { construct: { returns: 'libphonenumber-js.Typing' } },
      ParseError: { construct: { returns: 'Error' } },
    },
  }),
  ...(path === '' && {
    types: {
      PhoneNumber: {
        identity: true,
        members: {
          ...pure(`format formatNational formatInternational getURI getType isValid isPossible isNonGeographic isEqual
            getPossibleCountries getMetadata`),
          ...chained('setExt'),
          ...constants('country number nationalNumber countryCallingCode carrierCode ext'),
        },
      },
      Typing: {
        identity: true,
        members: {
          ...calls('input reset', { mutates: ['this'] }),
          ...pure(`getNumberValue getChars getTemplate getCountry getCallingCode isInternational isValid isPossible
            getNationalNumber`),
          ...pure('getNumber', 'libphonenumber-js.PhoneNumber'),
        },
      },
    },
  }),
}));

const CALENDAR = `createEvent createAlarm createAttendee createCategory name description timezone method prodId scale source
  ttl url x start end summary location organizer repeating status busystatus priority class transparency sequence id
  stamp created lastModified allDay floating attachments geo recurrenceId exclude type trigger rsvp role mailto email
  delegatesTo delegatesFrom clear`;
const ical = {
  name: 'ical-generator',
  module: {
    call: { returns: 'ical-generator.Part', keeps: [-1], does: ['clock', 'random'] },
    members: {
      default: { call: { returns: 'ical-generator.Part', keeps: [-1], does: ['clock', 'random'] } },
      ...constants('ICalAlarmType ICalAttendeeRole ICalAttendeeStatus ICalCalendarMethod ICalEventStatus ICalWeekday'),
    },
  },
  types: {
    Part: {
      identity: true,
      members: { ...chained(CALENDAR, { does: ['clock', 'random'] }), ...pure('toString toJSON toURL length') },
    },
  },
} satisfies PackageModel;

const STRUCT: Call = { returns: 'superstruct.Struct', keeps: [-1] };
const superstruct = {
  name: 'superstruct',
  module: {
    members: {
      ...each(
        `any array assign bigint boolean coerce date defaulted define deprecated dynamic empty enums func instance integer
        intersection lazy literal map max min never nonempty nullable number object omit optional partial pattern pick
        record refine regexp set size string struct trimmed tuple type union unknown`,
        { call: STRUCT },
      ),
      ...pure('create mask validate', 'unknown'),
      ...pure('assert is'),
      StructError: { construct: { returns: 'Error', keeps: [-1] } },
    },
  },
  types: {
    Struct: { members: { ...pure('create mask validate', 'unknown'), ...pure('assert is') } },
  },
} satisfies PackageModel;

const chess = {
  name: 'chess.js',
  module: {
    members: {
      Chess: { construct: { returns: 'chess.js.Chess', does: ['clock'] } },
      ...pure('validateFen'),
      ...constants('BISHOP BLACK DEFAULT_POSITION KING KNIGHT PAWN QUEEN ROOK WHITE SQUARES'),
    },
  },
  types: {
    Chess: {
      identity: true,
      members: {
        ...each(
          `clear load loadPgn load_pgn move put remove reset undo header setHeader removeHeader setComment deleteComment
          removeComment deleteComments removeComments setCastlingRights setTurn`,
          {
            call: { returns: 'fresh', mutates: ['this'] },
          },
        ),
        // They make moves and take them back.
        ...pure(`fen get findPiece attackers hash isAttacked isCheck inCheck isCheckmate isStalemate isInsufficientMaterial
          isThreefoldRepetition isDrawByFiftyMoves isDraw isGameOver in_check in_checkmate in_stalemate in_draw game_over
          insufficient_material in_threefold_repetition moves pgn getHeaders ascii perft turn board squareColor history
          getComment getComments getCastlingRights moveNumber`),
      },
    },
  },
} satisfies PackageModel;

const FRACTION: Call = { returns: 'fraction.js.Fraction' };
const fraction = {
  name: 'fraction.js',
  module: {
    ...{ call: FRACTION, construct: FRACTION },
    members: each('default Fraction', { call: FRACTION, construct: FRACTION }),
  },
  types: {
    Fraction: {
      members: {
        ...pure(
          'abs neg add sub mul div pow log mod gcd lcm inverse clone ceil floor round roundTo simplify',
          'fraction.js.Fraction',
        ),
        ...pure('equals lt lte gt gte compare divisible valueOf toString toLatex toFraction toContinued'),
      },
    },
  },
} satisfies PackageModel;

/** With too few arguments each gives a function that waits for the others; what comes out may be, or hold, what went in. */
const RAMDA: Call = {
  returns: 'ramda.Value | argument 0 | argument 1 | argument 2 | contents 0 | contents 1 | contents 2',
  keeps: [-1],
};
const ramda = {
  name: 'ramda',
  module: {
    members: {
      // They remember, or call what they find.
      ...each('memoizeWith once', { call: { returns: 'unknown', stateful: true } }),
      ...each('invoker bind construct constructN', { call: { returns: 'unknown' } }),
      ...constants('__'),
    },
    others: RAMDA,
  },
  types: { Value: { call: { ...RAMDA, returns: `${RAMDA.returns ?? ''} | contents` }, members: {} } },
} satisfies PackageModel;

/** Methods give new collections that hold what the old one held. */
const COLLECTION: Call = { returns: 'immutable.Collection', keeps: [-1] };
const immutable = {
  name: 'immutable',
  module: withDefault({
    members: {
      ...each('List Map OrderedMap Set OrderedSet Stack Seq Range Repeat fromJS Collection', {
        call: COLLECTION,
        members: each('of fromKeys', { call: COLLECTION }),
      }),
      ...pure('is isImmutable isCollection isKeyed isIndexed isList isMap isSet isRecord has hasIn hash'),
      ...pure('get getIn', 'unknown | contents 0'),
    },
  }),
  types: {
    Collection: {
      members: {
        ...each(
          `set setIn update updateIn merge mergeDeep mergeIn mergeDeepIn mergeWith delete deleteIn remove removeIn push pop
          unshift shift concat insert clear map filter filterNot sort sortBy reverse slice take skip takeLast skipLast
          takeWhile skipWhile rest butLast groupBy flatten flatMap toList toMap toSet toOrderedMap toOrderedSet toSeq toStack
          keySeq valueSeq entrySeq asImmutable`,
          { call: { returns: 'this | immutable.Collection', keeps: [-1] } },
        ),
        // Whoever changes it then changes it in place.
        ...pure('asMutable', 'unknown'),
        ...each('withMutations', { call: { ruptures: [sync(0, ['this'])], returns: 'this' } }),
        ...pure(
          'size count hashCode equals has hasIn includes contains isEmpty isSubset isSuperset join toString keyOf lastKeyOf',
        ),
        ...pure(
          'toArray toObject toJS toJSON get getIn first last find findLast max min reduce reduceRight',
          'unknown | contents',
        ),
      },
      others: { returns: 'this | immutable.Collection | contents', keeps: [-1] },
    },
  },
} satisfies PackageModel;

const PROCESSOR: Call = { returns: 'unified.Processor' };
const unified: readonly PackageModel[] = [
  {
    name: 'unified',
    module: { members: each('unified', { call: PROCESSOR }) },
    types: {
      Processor: {
        identity: true,
        call: PROCESSOR,
        members: {
          ...chained('use data freeze'),
          ...promising('process', { returns: 'unified.File', mutates: [0] }),
          ...calls('processSync', { returns: 'unified.File', mutates: [0] }),
          ...pure('parse stringify', 'unknown'),
          ...promising('run', { returns: 'unknown', mutates: [0] }),
          ...calls('runSync', { returns: 'unknown', mutates: [0] }),
        },
      },
      File: { members: pure('toString') },
    },
  },
  one('remark', { members: each('remark', { call: PROCESSOR, is: 'unified.Processor' }) }),
  one('rehype', { members: each('rehype', { call: PROCESSOR, is: 'unified.Processor' }) }),
  ...listed(`remark-parse remark-stringify remark-rehype remark-gfm remark-html remark-breaks remark-frontmatter remark-math
    rehype-parse rehype-stringify rehype-raw rehype-sanitize rehype-slug rehype-highlight rehype-katex
    rehype-autolink-headings rehype-format rehype-minify-whitespace`).map((name) =>
    one(name, { is: 'fresh', members: { default: { is: 'fresh' } } }),
  ),
];

const FINDERS = `AStarFinder BestFirstFinder BreadthFirstFinder DijkstraFinder BiAStarFinder BiBestFirstFinder
  BiBreadthFirstFinder BiDijkstraFinder IDAStarFinder JumpPointFinder`;
const pathfinding = {
  name: 'pathfinding',
  module: {
    members: {
      Grid: { construct: { returns: 'pathfinding.Grid' } },
      ...each(FINDERS, { construct: { returns: 'pathfinding.Finder', keeps: [-1] } }),
      Util: { members: pure('backtrace biBacktrace expandPath compressPath smoothenPath interpolate pathLength') },
      ...constants('DiagonalMovement Heuristic'),
    },
  },
  types: {
    Grid: {
      identity: true,
      members: {
        ...calls('setWalkableAt', { mutates: ['this'] }),
        ...pure('isWalkableAt isInside'),
        ...pure('getNodeAt getNeighbors', 'unknown | this'),
        ...pure('clone', 'pathfinding.Grid'),
      },
    },
    // What it notes on the way stays in the grid.
    Finder: { identity: true, members: calls('findPath', { mutates: ['this', 4] }) },
  },
} satisfies PackageModel;

const numeral = {
  name: 'numeral',
  module: {
    call: { returns: 'numeral.Numeral' },
    members: {
      ...configures('locale register reset defaultFormat zeroFormat nullFormat'),
      ...pure('validate isNumeral'),
      ...values('options localeData locales formats'),
      ...constants('version'),
    },
  },
  types: {
    Numeral: {
      identity: true,
      members: {
        ...pure('format value input difference valueOf'),
        ...pure('clone', 'numeral.Numeral'),
        ...chained('add subtract multiply divide set', { keeps: [] }),
      },
    },
  },
} satisfies PackageModel;

const DIJKSTRA: Members = pure('find_path single_source_shortest_paths extract_shortest_path_from_predecessor_list');

/** With `mutate` among the options the first argument is changed. */
const turf: Member = withDefault({
  members: {
    ...calls(
      `rewind simplify transformRotate transformScale transformTranslate cleanCoords flip truncate clustersDbscan
      clustersKmeans toMercator toWgs84 coordEach featureEach propEach geomEach segmentEach flattenEach lineEach`,
      { mutates: [0], keeps: [0], returns: 'unknown' },
    ),
    ...calls('randomPosition randomPoint randomPolygon randomLineString sample', {
      does: ['random'],
      returns: 'unknown',
    }),
  },
  others: { returns: 'unknown' },
});

const json2csv: readonly PackageModel[] = ['json2csv', '@json2csv/plainjs'].map((name) => ({
  name,
  module: {
    members: {
      Parser: { construct: { returns: 'json2csv.Parser', keeps: [-1] } },
      ...(name === 'json2csv' ? { ...pure('parse'), ...promising('parseAsync') } : {}),
    },
  },
  types: name === 'json2csv' ? { Parser: { identity: true, members: pure('parse') } } : {},
}));

export const valueModels: readonly PackageModel[] = [
  rrule,
  cronParser,
  ...phone,
  ical,
  superstruct,
  chess,
  fraction,
  ramda,
  immutable,
  ...unified,
  pathfinding,
  numeral,
  one('dijkstrajs', { members: DIJKSTRA }),
  one('@turf/turf', turf),
  ...json2csv,
  one('toml', { members: pure('parse') }),
  {
    name: 'pngjs',
    module: {
      members: {
        PNG: {
          construct: { returns: 'pngjs.Image' },
          members: {
            sync: {
              members: {
                ...calls('read', { mutates: [1], returns: 'pngjs.Image' }),
                ...calls('write', { mutates: [1], returns: 'Buffer' }),
              },
            },
            ...calls('bitblt', { mutates: [1] }),
            ...calls('adjustGamma', { mutates: [0] }),
          },
        },
      },
    },
    types: {
      Image: {
        extends: 'stream.Duplex',
        identity: true,
        members: {
          ...chained('pack'),
          ...calls('bitblt', { mutates: [0] }),
          ...calls('adjustGamma', { mutates: ['this'] }),
          ...values('data width height gamma'),
        },
      },
    },
  },
  // What is left out of the options is put there.
  one('bwip-js', {
    members: {
      ...callbackOrPromise('toBuffer', { mutates: [0] }, ['fresh', 'fresh']),
      ...calls('toSVG raw', { mutates: [0] }),
      ...configures('loadFont'),
      ...constants('BWIPJS_VERSION BWIPP_VERSION'),
    },
  }),
  one('jpeg-js', { members: pure('encode decode') }),
  one('fast-json-stable-stringify', withDefault({ call: fresh })),
  one('json-stable-stringify', { call: fresh }),
];
