/** Small packages that compute and do nothing else. */
import type { Members } from '../build.js';
import {
  callbackLast,
  callbackOrPromise,
  calls,
  chained,
  configures,
  constants,
  each,
  listed,
  promising,
  pure,
  withDefault,
} from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';

const fresh: Call = { returns: 'fresh' };
const one = (name: string, module: Member): PackageModel => ({ name, module });

/** The package is one pure function. */
const FUNCTIONS = listed(
  'ms escape-html etag fresh object-hash content-disposition parseurl encodeurl range-parser',
).map((name) => one(name, withDefault({ call: fresh })));

const STYLES = `reset bold dim italic underline inverse hidden strikethrough visible black red green yellow blue magenta
  cyan white gray grey bgBlack bgRed bgGreen bgYellow bgBlue bgMagenta bgCyan bgWhite blackBright redBright greenBright
  yellowBright blueBright magentaBright cyanBright whiteBright`;
const styles: Members = each(STYLES, { is: 'chalk.Style' });
const chalk: PackageModel = {
  name: 'chalk',
  module: withDefault({ call: fresh, members: { ...styles, ...pure('hex rgb ansi256 bgHex', 'chalk.Style') } }),
  types: { Style: { members: styles, call: fresh } },
};

const CIPHERS = 'AES TripleDES DES RC4 Rabbit';
const cryptoJs: PackageModel = {
  name: 'crypto-js',
  memberPaths: true,
  module: {
    members: {
      ...pure(
        `MD5 SHA1 SHA3 SHA224 SHA256 SHA384 SHA512 RIPEMD160 HmacMD5 HmacSHA1 HmacSHA256 HmacSHA512 PBKDF2`,
        'crypto-js.Words',
      ),
      ...each(CIPHERS, {
        members: {
          ...calls('encrypt', { does: ['random'], returns: 'crypto-js.Words' }),
          ...pure('decrypt', 'crypto-js.Words'),
        },
      }),
      enc: { members: each('Base64 Hex Latin1 Utf8 Utf16', { members: pure('parse stringify', 'crypto-js.Words') }) },
    },
  },
  types: { Words: { members: pure('toString clone') } },
};

const STATUS = `BadRequest Unauthorized PaymentRequired Forbidden NotFound MethodNotAllowed NotAcceptable RequestTimeout
  Conflict Gone LengthRequired PreconditionFailed PayloadTooLarge URITooLong UnsupportedMediaType ExpectationFailed
  ImATeapot UnprocessableEntity Locked TooManyRequests InternalServerError NotImplemented BadGateway ServiceUnavailable
  GatewayTimeout`;

const ids: readonly PackageModel[] = [
  one('uuid', {
    call: { returns: 'fresh', does: ['random'] },
    members: {
      v4: { call: { returns: 'fresh | argument 1', mutates: [1], does: ['random'] } },
      // They count within one tick of the clock, so that ids come out in order.
      ...calls('v1 v6 v7', { returns: 'fresh | argument 1', mutates: [1], does: ['random', 'clock'], stateful: true }),
      ...calls('v3 v5', { returns: 'fresh | argument 2', mutates: [2] }),
      ...pure('parse stringify validate version'),
      ...constants('NIL MAX'),
    },
  }),
  {
    name: 'nanoid',
    module: {
      members: {
        ...calls('nanoid random', { does: ['random'] }),
        ...pure('customAlphabet', 'nanoid.Generator'),
        ...constants('urlAlphabet'),
      },
    },
    types: { Generator: { members: {}, call: { returns: 'fresh', does: ['random'] } } },
  },
  one('shortid', {
    members: { ...calls('generate', { stateful: true, does: ['random', 'clock'] }), ...pure('isValid') },
  }),
];

const parsers: readonly PackageModel[] = [
  one('qs', { members: pure('parse stringify') }),
  one('query-string', { members: pure('parse stringify exclude extract parseUrl pick stringifyUrl') }),
  one('bytes', { call: fresh, members: pure('format parse') }),
  one('cookie', { members: pure('parse serialize parseCookie stringifyCookie parseSetCookie stringifySetCookie') }),
  one('cookie-signature', { members: pure('sign unsign') }),
  one('content-type', { members: pure('format parse') }),
  one('mime', withDefault({ members: { ...pure('getType getExtension lookup extension'), ...configures('define') } })),
  one('mime-types', {
    members: { ...pure('charset contentType extension lookup'), ...constants('charsets extensions types') },
  }),
  one('semver', {
    members: calls('sort rsort', { mutates: [0], returns: 'argument 0' }),
    others: fresh,
  }),
  one('js-yaml', { members: { ...pure('load loadAll safeLoad safeLoadAll', 'data'), ...pure('dump safeDump') } }),
  {
    name: 'yaml',
    module: withDefault({
      members: {
        ...pure('parse', 'data'),
        ...pure('stringify'),
        ...each('parseDocument', { call: { returns: 'yaml.Document' } }),
        ...each('Document', { construct: { returns: 'yaml.Document', keeps: [-1] } }),
      },
    }),
    types: {
      Document: {
        identity: true,
        members: {
          ...chained('add addIn set setIn delete deleteIn setSchema', { returns: 'fresh' }),
          ...pure('has hasIn toString'),
          ...pure('get getIn toJS toJSON', 'unknown | contents'),
          ...pure('clone createNode', 'unknown'),
        },
      },
    },
  },
  {
    name: 'xml2js',
    module: {
      members: {
        parseString: {
          call: { ruptures: [{ kind: 'post', callback: 'last', params: ['fresh', 'fresh'] }], returns: 'fresh' },
        },
        parseStringPromise: { call: { promise: true, returns: 'fresh' } },
        Builder: { construct: { returns: 'xml2js.Builder', keeps: [-1] } },
        Parser: { construct: { returns: 'xml2js.Parser', keeps: [-1] } },
      },
    },
    types: {
      Builder: { identity: true, members: pure('buildObject') },
      // It holds what it reads.
      Parser: {
        identity: true,
        extends: 'events.EventEmitter',
        members: {
          ...callbackLast('parseString', { mutates: ['this'], keeps: [-1] }, ['fresh', 'fresh']),
          ...promising('parseStringPromise', { mutates: ['this'] }),
          ...chained('reset'),
        },
      },
    },
  },
  {
    name: 'fast-xml-parser',
    module: {
      members: {
        XMLParser: { construct: { returns: 'fast-xml-parser.Parser', keeps: [-1] } },
        XMLBuilder: { construct: { returns: 'fast-xml-parser.Builder', keeps: [-1] } },
        XMLValidator: { members: pure('validate') },
      },
    },
    types: {
      Parser: { identity: true, members: { ...pure('parse'), ...chained('addEntity') } },
      Builder: { identity: true, members: pure('build') },
    },
  },
  ...listed('csv-parse/sync csv-stringify/sync').map((name) =>
    one(name, { members: pure(name.slice('csv-'.length, -'/sync'.length)) }),
  ),
  ...listed('csv-parse csv-stringify').map((name) =>
    one(name, {
      members: callbackLast(name.slice('csv-'.length), { returns: 'stream.Transform', keeps: [-1] }, [
        'fresh',
        'fresh',
      ]),
    }),
  ),
  one('papaparse', {
    // Of a stream it takes the pieces.
    members: { ...calls('parse', { mutates: [0], keeps: [-1] }), ...pure('unparse') },
  }),
  one('qrcode', {
    members: {
      ...callbackOrPromise('toDataURL toString toBuffer', {}, ['fresh', 'fresh']),
      ...callbackOrPromise('toFile', { does: ['files'] }, ['fresh']),
      ...pure('create'),
    },
  }),
  one('statuses', { call: fresh, members: constants('codes message code redirect empty retry') }),
  one('iconv-lite', { members: pure('encode decode encodingExists getEncoder getDecoder') }),
  one('ini', { members: pure('parse stringify encode decode safe unsafe') }),
];

const words: readonly PackageModel[] = [
  one('slugify', withDefault({ call: fresh, members: configures('extend') })),
  one('pluralize', {
    call: fresh,
    members: {
      ...pure('plural singular isPlural isSingular'),
      ...configures('addPluralRule addSingularRule addUncountableRule addIrregularRule'),
    },
  }),
  one('he', { members: pure('encode decode escape unescape') }),
  one('sanitize-html', {
    call: fresh,
    members: {
      ...pure('simpleTransform'),
      // Copied by who wants more of them: `defaults.allowedTags.concat(['img'])`. Who changes them changes the package.
      defaults: { members: each('allowedTags allowedSchemes selfClosing', { members: pure('concat slice includes') }) },
    },
  }),
  one('xss', { call: fresh, members: pure('filterXSS escapeHtml getDefaultWhiteList') }),
];

const objects: readonly PackageModel[] = [
  one('object-assign', { call: { mutates: [0], keeps: [-1], returns: 'argument 0' } }),
  // It puts its defaults into the options.
  one('deepmerge', {
    call: { returns: 'copy -1', mutates: [2] },
    members: { all: { call: { returns: 'copy 0', mutates: [1] } } },
  }),
  one('inherits', { call: { mutates: [0], keeps: [1], returns: 'fresh' } }),
  one('utils-merge', { call: { mutates: [0], keeps: [1], returns: 'argument 0' } }),
  one('http-errors', {
    call: { returns: 'Error', keeps: [-1] },
    members: {
      ...each(`HttpError ${STATUS}`, {
        call: { returns: 'Error', keeps: [-1] },
        construct: { returns: 'Error', keeps: [-1] },
      }),
      ...pure('isHttpError'),
    },
  }),
];

/** A document that is written piece by piece, and read as a stream. */
const pdfkit: PackageModel = {
  name: 'pdfkit',
  module: withDefault({ construct: { returns: 'pdfkit.Document', does: ['files', 'clock'] } }),
  types: {
    Document: {
      extends: 'stream.Readable',
      identity: true,
      members: {
        ...chained(
          `text list font fontSize fillColor strokeColor fillOpacity strokeOpacity opacity image rect roundedRect circle
          ellipse polygon moveTo lineTo quadraticCurveTo bezierCurveTo path lineWidth lineCap lineJoin dash undash stroke fill
          fillAndStroke clip save restore translate rotate scale transform addPage switchToPage flushPages moveDown moveUp
          underline strike link note highlight addContent registerFont lineGap closePath`,
          { does: ['files'] },
        ),
        ...each('end', { call: { returns: 'fresh', mutates: ['this'] } }),
        ...pure('widthOfString heightOfString currentLineHeight bufferedPageRange'),
        ...each('page info options x y', {}),
      },
    },
  },
};

export const textModels: readonly PackageModel[] = [
  ...FUNCTIONS,
  chalk,
  cryptoJs,
  ...ids,
  ...parsers,
  ...words,
  ...objects,
  pdfkit,
];
