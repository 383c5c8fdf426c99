/** Documents: trees of HTML and XML, what turns them into something else, code and formulas that are shown in them. */
import type { Members } from '../build.js';
import {
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
import type { Call, PackageModel, ValueRef } from '../types.js';

/** What is found in a document is the document, as far as changes go. Functions are called with nodes. */
const visiting = (returns: ValueRef): Call => ({
  ruptures: [sync(0, ['fresh', 'unknown | this', 'unknown'], { thisIsReceiver: true })],
  returns,
});
const DOCUMENT: Members = {
  ...each(
    `find parent parents parentsUntil closest next nextAll nextUntil prev prevAll prevUntil siblings children contents
    first last eq slice not has end add addBack root`,
    { call: { returns: 'this', keeps: [-1] } },
  ),
  ...each('each map filter', { call: visiting('this') }),
  ...pure('is index hasClass extract'),
  // With an argument more they set what they otherwise give.
  ...each('attr prop data val html text css xml', {
    call: { returns: 'this', mutates: ['this'], keeps: [-1], ruptures: [sync('last', ['fresh', 'fresh'])] },
  }),
  ...chained(`addClass removeClass toggleClass append prepend after before replaceWith empty remove wrap wrapInner wrapAll
    unwrap removeAttr removeProp removeData`),
  ...each('insertAfter insertBefore appendTo prependTo replaceAll', {
    call: { returns: 'this', mutates: ['this', 0], keeps: [-1] },
  }),
  ...pure('get toArray', 'unknown | this'),
  clone: { call: { returns: 'cheerio.Document' } },
  ...pure('serialize serializeArray'),
  ...calls('parseHTML', { returns: 'unknown' }),
  ...pure('contains'),
};
const cheerio = {
  name: 'cheerio',
  module: withDefault({
    members: {
      ...each('load loadBuffer', { call: { returns: 'cheerio.Document', keeps: [-1], mutates: [0] } }),
      ...pure('contains'),
    },
  }),
  types: {
    Document: { identity: true, call: { returns: 'this', keeps: [-1] }, members: DOCUMENT },
  },
} satisfies PackageModel;

/** Any method may change the document; what it gives is part of that, as far as can be told. */
const NODES = `window document documentElement head body defaultView firstChild lastChild firstElementChild lastElementChild
  nextSibling previousSibling nextElementSibling previousElementSibling parentNode parentElement ownerDocument
  childNodes children attributes classList dataset style content`;
const onNodes: Call = { returns: 'this', mutates: ['this'], keeps: [-1] };
const jsdom = {
  name: 'jsdom',
  module: { members: { JSDOM: { construct: { returns: 'jsdom.Node', keeps: [-1] } } } },
  types: {
    Node: {
      identity: true,
      members: {
        ...each(NODES, { is: 'jsdom.Node' }),
        ...each(
          `querySelector getElementById createElement createElementNS createTextNode createComment createDocumentFragment
          appendChild removeChild insertBefore replaceChild append prepend remove replaceWith cloneNode closest
          setAttribute getAttribute removeAttribute hasAttribute toggleAttribute insertAdjacentHTML insertAdjacentElement
          insertAdjacentText querySelectorAll getElementsByTagName getElementsByClassName getElementsByName item add
          toggle normalize`,
          { call: onNodes },
        ),
        ...each('serialize contains matches hasChildNodes', { call: { returns: 'fresh' } }),
      },
    },
  },
} satisfies PackageModel;

/** What was removed last can be asked for afterwards. */
const dompurify = {
  name: 'dompurify',
  module: withDefault({ call: { returns: 'dompurify.Purifier', keeps: [0] } }),
  types: {
    Purifier: {
      identity: true,
      members: {
        sanitize: { call: { returns: 'fresh | argument 0', mutates: [0] } },
        ...configures('addHook removeHook removeHooks removeAllHooks setConfig clearConfig'),
        ...pure('isValidAttribute'),
        ...constants('isSupported version'),
        removed: { left: true },
      },
    },
  },
} satisfies PackageModel;

const turndown = {
  name: 'turndown',
  module: withDefault({
    construct: { returns: 'turndown.Service', keeps: [-1] },
    call: { returns: 'turndown.Service', keeps: [-1] },
  }),
  types: {
    Service: {
      identity: true,
      members: { ...pure('turndown escape'), ...chained('addRule use keep remove'), ...values('options rules') },
    },
  },
} satisfies PackageModel;

const HIGHLIGHT: Members = {
  ...pure('highlight highlightAuto listLanguages autoDetection'),
  // A description of the language, which all share.
  getLanguage: { call: { returns: 'fresh', shared: true } },
  ...configures(
    `registerLanguage unregisterLanguage registerAliases configure addPlugin removePlugin debugMode safeMode`,
  ),
  newInstance: { call: { returns: 'highlight.js.Highlighter' } },
  ...values('regex'),
  ...constants('versionString'),
};
const HIGHLIGHT_LANGUAGES = `
  1c abnf accesslog actionscript ada angelscript apache applescript arcade arduino armasm asciidoc
  aspectj autohotkey autoit avrasm awk axapta bash basic bnf brainfuck c cal capnproto ceylon clean
  clojure clojure-repl cmake coffeescript coq cos cpp crmsh crystal csharp csp css d dart delphi diff
  django dns dockerfile dos dsconfig dts dust ebnf elixir elm erb erlang erlang-repl excel fix flix
  fortran freedesktop fsharp gams gauss gcode gherkin glsl gml go golo gradle graphql groovy haml
  handlebars haskell haxe hsp http hy inform7 ini irpf90 isbl java javascript jboss-cli json julia
  julia-repl kotlin lasso latex ldif leaf less lisp livecodeserver livescript llvm lsl lua makefile
  markdown mathematica matlab maxima mel mercury mipsasm mizar mojolicious monkey moonscript n1ql
  nestedtext nginx nim nix node-repl nsis objectivec ocaml openscad oxygene parser3 perl pf pgsql php
  php-template plaintext pony powershell processing profile prolog properties protobuf puppet purebasic
  python python-repl q qml r reasonml rib roboconf routeros rsl ruby ruleslanguage rust sas scala scheme
  scilab scss shell smali smalltalk sml sqf sql stan stata step21 stylus subunit swift taggerscript tap
  tcl thrift tp twig typescript vala vbnet vbscript vbscript-html verilog vhdl vim wasm wren x86asm xl
  xml xquery yaml zephir`;
const highlight: readonly PackageModel[] = [
  {
    name: 'highlight.js',
    module: withDefault({ members: HIGHLIGHT }),
    types: { Highlighter: { identity: true, members: HIGHLIGHT } },
  },
  ...['highlight.js/lib/core', 'highlight.js/lib/common'].map((name) => ({
    name,
    module: withDefault({ members: HIGHLIGHT }),
  })),
  // To be given to `registerLanguage`.
  ...listed(HIGHLIGHT_LANGUAGES).map((name) => ({
    name: `highlight.js/lib/languages/${name}`,
    module: withDefault({ is: 'fresh' }),
  })),
];

const prism = {
  name: 'prismjs',
  module: withDefault({
    members: {
      ...pure('highlight tokenize'),
      languages: {},
      hooks: {},
      util: {},
      plugins: {},
    },
  }),
} satisfies PackageModel;

const showdown = {
  name: 'showdown',
  module: withDefault({
    members: {
      Converter: { construct: { returns: 'showdown.Converter', keeps: [-1] } },
      ...configures('setOption resetOptions setFlavor extension removeExtension resetExtensions subParser'),
      ...calls('getOption getOptions getFlavorOptions', { shared: true }),
      ...pure('getDefaultOptions getFlavor'),
      ...values('helper extensions'),
    },
  }),
  types: {
    Converter: {
      identity: true,
      members: {
        ...pure('makeHtml makeMarkdown makeMd getOption getOptions getFlavor'),
        ...chained('setOption addExtension useExtension setFlavor removeExtension'),
        // Of the text that was converted last.
        ...configures('getMetadata getMetadataFormat'),
      },
    },
  },
} satisfies PackageModel;

const katex = {
  name: 'katex',
  module: withDefault({
    members: {
      // Definitions that a formula makes for those behind it are put into `macros` of the options.
      ...calls('renderToString', { mutates: [1] }),
      ParseError: { construct: { returns: 'Error' } },
      ...constants('version'),
      ...configures('__setFontMetrics __defineSymbol __defineFunction __defineMacro'),
    },
  }),
} satisfies PackageModel;

/** Everything belongs to one document. */
const PDF_PARTS = `addPage insertPage getPage embedPage registerFontkit getForm createForm getTextField getCheckBox
  getDropdown getRadioGroup getButton setTitle setAuthor setSubject setKeywords setCreator setProducer setLanguage
  setCreationDate setModificationDate removePage drawText drawImage drawLine drawRectangle drawEllipse drawCircle
  drawSquare drawSvgPath drawPage setFont setFontSize setFontColor setLineHeight setSize setWidth setHeight setRotation
  setMediaBox setCropBox setText check uncheck select flatten moveTo moveUp moveDown moveLeft moveRight resetPosition
  scale scaleContent translateContent scaleToFit scaleAnnotations enableReadOnly addToPage updateFieldAppearances`;
const pdfLib = {
  name: 'pdf-lib',
  module: {
    members: {
      PDFDocument: {
        members: promising('create load', { returns: 'pdf-lib.Part', does: ['clock'] }),
      },
      ...pure('rgb cmyk grayscale degrees radians degreesToRadians radiansToDegrees', 'fresh'),
      ...constants(
        'StandardFonts PageSizes BlendMode LineCapStyle TextAlignment ImageAlignment ParseSpeeds TextRenderingMode',
      ),
    },
  },
  types: {
    Part: {
      identity: true,
      members: {
        ...chained(PDF_PARTS),
        ...promising('save saveAsBase64 attach copyPages flush', { returns: 'unknown', mutates: ['this', 0] }),
        ...promising('embedFont embedStandardFont embedPng embedJpg embedPdf copy', {
          returns: 'this',
          mutates: ['this'],
          keeps: [-1],
        }),
        ...each('embedStandardFont', { call: { returns: 'this', mutates: ['this'] } }),
        ...pure(`widthOfTextAtSize heightAtSize sizeAtHeight getSize getWidth getHeight getX getY getPosition getRotation
          getPageCount getPageIndices getTitle getAuthor getSubject getText isChecked size encodeText`),
      },
    },
  },
} satisfies PackageModel;

/** Nodes of what was parsed. */
const xmldom: readonly PackageModel[] = ['@xmldom/xmldom', 'xmldom'].map((name) => ({
  name,
  module: {
    members: {
      DOMParser: { construct: { returns: '@xmldom/xmldom.Parser', keeps: [-1] } },
      XMLSerializer: { construct: { returns: '@xmldom/xmldom.Serializer' } },
    },
  },
  types:
    name === 'xmldom'
      ? {}
      : {
          Parser: { members: { parseFromString: { call: { returns: 'jsdom.Node' } } } },
          Serializer: { members: pure('serializeToString') },
        },
}));
const xpath = {
  name: 'xpath',
  // What is found may be any of the nodes.
  module: { members: pure('select select1 evaluate', 'unknown') },
} satisfies PackageModel;

export const markupModels: readonly PackageModel[] = [
  cheerio,
  jsdom,
  dompurify,
  turndown,
  ...highlight,
  prism,
  showdown,
  katex,
  pdfLib,
  ...xmldom,
  xpath,
];
