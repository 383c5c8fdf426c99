/** What makes HTML on the server out of components, and what answers GraphQL. All of them run functions of the program. */
import type { Members } from '../build.js';
import { askedItself, calls, chained, constants, each, listed, promising, pure, withDefault } from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';
import { viewEngine } from './views.js';

const one = (name: string, module: Member): PackageModel => ({ name, module });

/** An element holds its component, and runs it when it is rendered. */
const ELEMENT: Call = { returns: 'react.Element', keeps: [-1] };

/** `const [value, setValue] = useState(0)`: on a server the second one is for listeners that nobody calls. */
const HOOKS: Members = {
  ...each('useState useReducer', { call: { returns: 'react.Pair', keeps: [-1] } }),
  ...each('useMemo', { call: { ruptures: [{ kind: 'sync', callback: 0 }], returns: 'result 0' } }),
  ...each('useCallback', { call: { returns: 'argument 0' } }),
  ...each('useEffect useLayoutEffect useImperativeHandle useDebugValue', {
    call: { returns: 'fresh', keeps: [-1] },
  }),
  ...each('useRef', { call: { returns: 'react.Ref', keeps: [0] } }),
  ...pure('useContext', 'unknown | contents 0'),
  ...pure('useId'),
};

const react = {
  name: 'react',
  module: withDefault({
    members: {
      ...each('createElement cloneElement', { call: ELEMENT }),
      ...HOOKS,
      ...each('useOptimistic useActionState', { call: { returns: 'react.Pair', keeps: [-1] } }),
      ...each('useTransition', { call: { returns: 'react.Pair' } }),
      ...each('useEffectEvent', { call: { returns: 'argument 0' } }),
      ...each('useInsertionEffect', { call: { returns: 'fresh', keeps: [-1] } }),
      ...each('createRef', { call: { returns: 'react.Ref' } }),
      ...pure('use', 'unknown | contents 0'),
      ...pure('useDeferredValue', 'argument 0'),
      ...pure('useSyncExternalStore', 'unknown'),
      ...pure('isValidElement'),
      ...each('memo forwardRef', { call: ELEMENT }),
      // What these make shows whether it has been rendered before.
      ...each('lazy cache', { call: { returns: 'react.Element', keeps: [-1], stateful: true } }),
      ...each('startTransition', { call: { ruptures: [{ kind: 'sync', callback: 0 }], returns: 'fresh' } }),
      ...each('createContext', { call: { returns: 'react.Context', keeps: [0] } }),
      ...each('Component PureComponent', {
        construct: { returns: 'react.Component', keeps: [-1] },
        // `super(props)`
        call: { returns: 'this', keeps: [-1] },
      }),
      ...constants('Fragment Profiler StrictMode Suspense Activity version'),
      Children: {
        members: {
          ...each('map forEach', {
            call: { ruptures: [{ kind: 'sync', callback: 1, params: ['unknown', 'fresh'] }], returns: 'unknown' },
          }),
          ...pure('count'),
          ...pure('toArray only', 'unknown'),
        },
      },
    },
  }),
  types: {
    Element: { members: {} },
    Pair: { members: { '0': { is: 'unknown' }, '1': { call: { returns: 'fresh' } } } },
    Ref: { members: {} },
    Context: { members: each('Provider Consumer', { is: 'fresh' }) },
    Component: { members: calls('setState forceUpdate', { mutates: ['this'] }) },
  },
} satisfies PackageModel;

const jsx = (names: string): Member => ({ members: { ...each(names, { call: ELEMENT }), ...constants('Fragment') } });

/** To be rendered. Who asks for a stream gives functions that are told when it is time to send. */
const reactDomServer: Member = withDefault({
  members: { ...pure('renderToString renderToStaticMarkup'), ...constants('version') },
});

const preactHooks: Member = { members: HOOKS };
const preact: Member = withDefault({
  members: {
    ...each('h createElement cloneElement', { call: ELEMENT }),
    ...each('createContext', { call: { returns: 'react.Context', keeps: [0] } }),
    ...each('createRef', { call: { returns: 'react.Ref' } }),
    ...pure('isValidElement'),
    ...calls('toChildArray', { mutates: [1], returns: 'unknown' }),
    Component: {
      construct: { returns: 'react.Component', keeps: [-1] },
      call: { returns: 'this', keeps: [-1] },
    },
    ...constants('Fragment'),
  },
});
const preactToString: Member = {
  call: { returns: 'fresh' },
  members: {
    ...pure('default render renderToString renderToStaticMarkup'),
    ...promising('renderToStringAsync'),
  },
};

const vueMembers: Members = {
  ...each('createSSRApp createApp', { call: { returns: 'vue.App', keeps: [-1] } }),
  ...each('h createVNode', { call: ELEMENT }),
  ...pure('defineComponent', 'argument 0'),
  ...pure('reactive shallowReactive readonly shallowReadonly toRaw markRaw unref', 'argument 0'),
  ...each('ref shallowRef toRef', { call: { returns: 'vue.Ref', keeps: [-1] } }),
  ...each('computed', { call: { returns: 'vue.Ref', keeps: [-1] } }),
  ...pure('isRef isReactive isProxy isReadonly isVNode'),
  ...each('onMounted onUnmounted onBeforeMount onBeforeUnmount onUpdated onBeforeUpdate', {
    call: { returns: 'fresh', keeps: [-1], mutates: [1] },
  }),
  ...constants('Fragment Text Comment Teleport Suspense KeepAlive Transition TransitionGroup version'),
};
const vue = {
  name: 'vue',
  module: { members: vueMembers },
  types: {
    App: {
      identity: true,
      members: chained('use component directive mixin provide'),
    },
    Ref: { identity: true, members: {} },
  },
} satisfies PackageModel;
/** What components have left for others (`teleports`) is put into the second argument. */
const vueServer: Member = {
  members: promising('renderToString', { mutates: [1] }),
};

/** Its answers may hold what the program's own functions gave. */
const answered: Call = { returns: 'unknown', promise: true };
const GRAPHQL_TYPES = `GraphQLObjectType GraphQLInterfaceType GraphQLUnionType GraphQLInputObjectType GraphQLEnumType
  GraphQLScalarType GraphQLList GraphQLNonNull GraphQLDirective GraphQLSchema`;
/** Functions that are asked for a field; what they give may have functions for the fields below it. */
const RESOLVER = ['unknown', 'fresh', 'unknown', 'fresh'] as const;
const resolver = { callsResult: true } as const;
const resolving = [
  ...listed('fields.*.resolve fields.*.subscribe').flatMap((within) =>
    askedItself(RESOLVER, 0, { within, ...resolver }),
  ),
  // They are asked once, for the fields.
  askedItself([], 0, { within: 'fields', ...resolver }),
  ...listed('resolveType isTypeOf serialize parseValue parseLiteral').map((within) =>
    askedItself(RESOLVER, 0, { within, ...resolver }),
  ),
];

/** What it answers requests with hangs on the schema, and on these. */
const graphqlHttp: Member = {
  members: {
    createHandler: {
      call: {
        ruptures: [
          ...listed('context rootValue').map((within) =>
            askedItself(['unknown', 'unknown'], 0, { within, ...resolver }),
          ),
          askedItself(['fresh', 'unknown', 'fresh'], 0, { within: 'rootValue.*', ...resolver }),
          ...listed('formatError onSubscribe onOperation').map((within) =>
            askedItself(['unknown', 'unknown', 'unknown', 'unknown'], 0, { within, ...resolver }),
          ),
        ],
        returns: 'express.Middleware',
        keeps: [-1],
        connects: true,
      },
    },
  },
};

const graphql = {
  name: 'graphql',
  module: {
    members: {
      ...each('graphql', { call: answered }),
      ...pure('graphqlSync executeSync', 'unknown'),
      execute: { call: { ...answered } },
      ...each('buildSchema buildASTSchema buildClientSchema extendSchema', {
        call: { returns: 'graphql.Schema', keeps: [-1] },
      }),
      ...each(GRAPHQL_TYPES, { construct: { ruptures: resolving, returns: 'graphql.Schema', keeps: [-1] } }),
      ...pure('parse parseValue print printSchema printType stripIgnoredCharacters introspectionFromSchema'),
      ...pure('validate validateSchema', 'fresh'),
      ...each('GraphQLError', { construct: { returns: 'Error', keeps: [-1] } }),
      ...constants('GraphQLString GraphQLInt GraphQLFloat GraphQLBoolean GraphQLID specifiedRules Kind'),
    },
  },
  types: { Schema: { identity: true, members: {} } },
} satisfies PackageModel;

/** Scopes count on in what is given (`{% increment n %}`). */
const scoped: Call = { returns: 'fresh', mutates: [1] };
const liquid = {
  name: 'liquidjs',
  renders: true,
  module: {
    members: { Liquid: { construct: { returns: 'liquidjs.Liquid', keeps: [-1], does: ['files'] } } },
  },
  types: {
    Liquid: {
      identity: true,
      members: {
        ...pure('parse'),
        ...calls('parseFileSync', { does: ['files'] }),
        ...promising('parseFile', { does: ['files'] }),
        ...promising('render parseAndRender renderFile', { ...scoped, does: ['files'] }),
        ...calls('renderSync parseAndRenderSync renderFileSync', { ...scoped, does: ['files'] }),
        ...chained('registerFilter registerTag plugin'),
        express: { call: { returns: 'liquidjs.Engine' } },
      },
    },
    Engine: viewEngine,
  },
} satisfies PackageModel;

const eta = {
  name: 'eta',
  renders: true,
  module: { members: { Eta: { construct: { returns: 'eta.Eta', keeps: [-1] } } } },
  types: {
    Eta: {
      identity: true,
      members: {
        ...calls('renderString render', { does: ['files'] }),
        ...promising('renderStringAsync renderAsync', { does: ['files'] }),
        ...calls('readFile resolvePath', { does: ['files'] }),
        ...pure('compileToString'),
        ...pure('compile', 'eta.Template'),
        ...chained('configure loadTemplate'),
      },
    },
    /** To be rendered by `renderString`. */
    Template: { members: {} },
  },
} satisfies PackageModel;

export const renderingModels: readonly PackageModel[] = [
  react,
  one('react/jsx-runtime', jsx('jsx jsxs')),
  one('react/jsx-dev-runtime', jsx('jsxDEV')),
  ...['react-dom/server', 'react-dom/server.node'].map((name) => one(name, reactDomServer)),
  one('preact', preact),
  one('preact/hooks', preactHooks),
  one('preact/jsx-runtime', jsx('jsx jsxs')),
  one('preact-render-to-string', preactToString),
  vue,
  ...['vue/server-renderer', '@vue/server-renderer'].map((name) => one(name, vueServer)),
  graphql,
  ...['graphql-http/lib/use/express', 'graphql-http/lib/use/http'].map((name) => one(name, graphqlHttp)),
  liquid,
  eta,
];
