import type { Members } from '../build.js';
import {
  asked,
  askedItself,
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
import type { Call, PackageModel, TypeModel } from '../types.js';

/** Schemas do not change: each method gives a new one. What comes out of one may be what went in. */
const builds = (type: string): Call => ({ returns: type, keeps: [-1] });

/**
 * Methods whose function is told by what it is given what is wrong with a value (`helpers.error()`, `ctx.addIssue()`). It runs when something is
 * validated; what else is on what it is given, such as the path that is being validated, is not described.
 */
const checkedBy = (names: string, helpers: string, call: Call): Members =>
  each(names, { call: { ...call, ruptures: [sync(0, ['unknown', helpers])] } });

export const joi = {
  name: 'joi',
  module: {
    members: {
      ...each(
        `alternatives any array boolean date function link number object string symbol binary allow disallow equal
        compile exist forbidden invalid not optional prefs preferences required strip valid when alt bool func build`,
        { call: builds('joi.Schema') },
      ),
      ...checkedBy('custom', 'joi.Helpers', builds('joi.Schema')),
      ...pure('isError isExpression isRef isSchema'),
      ...each('ref expression x in', { call: builds('joi.Reference') }),
      ...pure('attempt', 'formed 0'),
      ...pure('assert'),
      ValidationError: { construct: { returns: 'Error', keeps: [-1] } },
      ...constants('version'),
    },
  },
  types: {
    Schema: {
      members: {
        ...pure('validate', 'formed 0'),
        ...promising('validateAsync', { returns: 'formed 0' }),
        ...pure('describe'),
        ...checkedBy('custom external', 'joi.Helpers', builds('joi.Schema')),
      },
      others: builds('joi.Schema'),
    },
    /** Made for each value that is validated. */
    Helpers: { members: each('error message', { call: builds('joi.Report') }) },
    Report: { members: {} },
    /** It may have been given functions (`adjust`). */
    Reference: { members: {} },
  },
} satisfies PackageModel;

export const joiScoped = { ...joi, name: '@hapi/joi' } satisfies PackageModel;

/** Defaults come out as they were put in. */
const PARSED: Call = { returns: 'formed 0', shared: 'kept' };
/** What has gone wrong stands in the result: `result.error.flatten()`. */
const TRIED: Call = { returns: 'formed 0 | zod.Failure', shared: 'kept' };
const FILLED_IN = {
  ...each('default prefault catch', { call: { ...builds('zod.Schema'), comesOut: [0] } }),
  // `_default(schema, value)` of the functions of zod 4.
  ...each('_default', { call: { ...builds('zod.Schema'), comesOut: [1] } }),
};

const ZOD: Members = {
  ...each(
    `string number boolean bigint symbol undefined null any unknown never void date array object strictObject union
    discriminatedUnion intersection tuple record map set enum nativeEnum literal optional nullable lazy promise
    preprocess pipe email url uuid nan strictObject looseObject partialRecord looseRecord
    nullish nonoptional readonly refine check templateLiteral file int int32 float32 float64 uint32 guid
    uuidv4 nanoid cuid cuid2 ulid ipv4 ipv6 base64 base64url jwt json stringbool keyof success codec
    extend safeExtend merge pick omit partial required catchall lt lte gt gte positive negative multipleOf minLength
    maxLength length regex lowercase uppercase includes startsWith endsWith trim toLowerCase toUpperCase overwrite`,
    { call: builds('zod.Schema') },
  ),
  ...checkedBy('transform superRefine', 'zod.Context', builds('zod.Schema')),
  // They say in what they are given how it is to be checked.
  ...each('custom instanceof', { call: { ...builds('zod.Schema'), mutates: [1] } }),
  coerce: { members: each('string number boolean bigint date', { call: builds('zod.Schema') }) },
  iso: { members: each('datetime date time duration', { call: builds('zod.Schema') }) },
  ...calls('parse encode decode', PARSED),
  ...calls('safeParse', TRIED),
  ...promising('parseAsync encodeAsync decodeAsync', PARSED),
  ...promising('safeParseAsync', TRIED),
  ...FILLED_IN,
  ...pure('treeifyError prettifyError formatError flattenError toJSONSchema'),
  ZodError: { construct: { returns: 'Error', keeps: [-1] } },
  ...configures('setErrorMap config'),
};

export const zod = {
  name: 'zod',
  module: { members: { ...ZOD, z: { members: ZOD }, default: { members: ZOD } } },
  types: {
    Schema: {
      members: {
        ...calls('parse', PARSED),
        ...calls('safeParse', TRIED),
        ...promising('parseAsync', PARSED),
        ...promising('safeParseAsync spa', TRIED),
        ...FILLED_IN,
        ...checkedBy('transform superRefine', 'zod.Context', builds('zod.Schema')),
        ...values('shape'),
      },
      others: builds('zod.Schema'),
    },
    /** The result that says so, and the error in it: both are known by what they have beside data. */
    Failure: { complete: true, travels: 'clone', members: { error: { is: 'zod.Failure' }, ...pure('flatten format') } },
    /** Made for each value that is parsed. An issue is filled in, and what is in it comes out with the error. */
    Context: { members: { addIssue: { call: { returns: 'fresh', mutates: [0], comesOutOnce: [0] } } } },
  },
} satisfies PackageModel;

/** Its versions have paths of their own. */
export const zodPaths = ['zod/v3', 'zod/v4', 'zod/mini', 'zod/v4-mini'].map(
  (name): PackageModel => ({ name, module: zod.module }),
);

export const yup = {
  name: 'yup',
  module: {
    members: {
      ...each('array bool boolean date lazy mixed number object string tuple', { call: builds('yup.Schema') }),
      ...pure('ref isSchema'),
      ...configures('addMethod setLocale'),
      ValidationError: { construct: { returns: 'Error', keeps: [-1] } },
    },
  },
  types: {
    Schema: {
      members: {
        ...promising('validate', { returns: 'formed 0' }),
        ...promising('isValid'),
        ...pure('validateSync cast', 'formed 0'),
        ...pure('isValidSync describe'),
      },
      others: builds('yup.Schema'),
    },
  },
} satisfies PackageModel;

export const ajv = {
  name: 'ajv',
  module: withDefault({
    construct: { returns: 'ajv.Ajv', keeps: [-1], connects: true },
    call: { returns: 'ajv.Ajv', keeps: [-1], connects: true },
  }),
  types: {
    Ajv: {
      identity: true,
      members: {
        compile: { call: { returns: 'ajv.Validate', mutates: ['this'], keeps: [0] } },
        getSchema: { call: { returns: 'ajv.Validate', shared: true } },
        // The errors of the last call are left in a property; with `useDefaults` the data is filled in.
        validate: { call: { returns: 'fresh', mutates: ['this', 1], deep: true } },
        ...chained('addSchema addMetaSchema addKeyword addFormat addVocabulary removeKeyword removeSchema'),
        ...pure('errorsText validateSchema'),
        ...values('errors'),
      },
    },
    Validate: {
      identity: true,
      // The errors of the last call are read right behind it, on the same loop.
      members: values('errors schema'),
      call: { returns: 'fresh', mutates: [0], deep: true },
    },
  },
} satisfies PackageModel;

/** Each adds formats or keywords to the one that it is given, and gives that back. */
export const ajvPlugins: readonly PackageModel[] = listed('ajv-formats ajv-keywords ajv-errors').map((name) => ({
  name,
  module: withDefault({ call: { returns: 'argument 0', mutates: [0], keeps: [1] } }),
}));

export const validator = {
  name: 'validator',
  module: withDefault({ others: { returns: 'fresh' } }),
} satisfies PackageModel;

/** What a function of the app is asked of one field of a request. */
const ASKED = ['fresh', 'express-validator.Meta'] as const;
const inChain = { returns: 'this', mutates: ['this'], keeps: [-1] } satisfies Call;
const inSchema = `*.custom.options *.customSanitizer.options *.errorMessage *.*.errorMessage *.custom *.customSanitizer *.default
  *.if`;

/** A chain is a middleware that writes its findings into the request. */
export const expressValidator = {
  name: 'express-validator',
  module: {
    members: {
      ...each('check body cookie header param query buildCheckFunction', {
        call: {
          ruptures: [askedItself(ASKED, 1)],
          returns: 'express-validator.Chain',
          keeps: [-1],
          connects: true,
        },
      }),
      ...each('oneOf checkExact', {
        call: {
          ruptures: asked('message', ['fresh', 'express-validator.Meta'], 1),
          returns: 'express-validator.Chain',
          keeps: [-1],
          connects: true,
        },
      }),
      ...each('checkSchema', {
        call: { ruptures: asked(inSchema, ASKED), returns: 'express-validator.Chains', keeps: [-1], connects: true },
      }),
      validationResult: { call: { returns: 'express-validator.Result' } },
      ...pure('matchedData', 'copy 0'),
    },
  },
  types: {
    Chain: {
      extends: 'express.Middleware',
      members: {
        run: { call: { promise: true, returns: 'express-validator.Result', mutates: [0] } },
        ...each('custom customSanitizer withMessage if', {
          call: { ...inChain, ruptures: [askedItself(ASKED)] },
        }),
      },
      others: inChain,
    },
    /** A list of them. */
    Chains: {
      extends: 'Array',
      members: { run: { call: { promise: true, returns: 'fresh', mutates: [0] } } },
    },
    Meta: { members: { req: { is: 'express.Request' }, ...constants('location path pathValues') } },
    Result: { members: pure('isEmpty array mapped formatWith throw') },
  },
} satisfies PackageModel;

/** Schemas are what has functions of the app in it. */
const checks: Call = { returns: 'express.Middleware', keeps: [-1], connects: true };

export const celebrate = {
  name: 'celebrate',
  module: {
    members: {
      ...each('celebrate errors', { call: checks }),
      // A model that says when functions are called says of middleware that it comes to them by itself.
      Joi: { members: { ...joi.module.members, custom: { call: builds('joi.Schema') } } },
      ...pure('isCelebrateError'),
      CelebrateError: { construct: { returns: 'Error', keeps: [-1] }, call: { returns: 'Error', keeps: [-1] } },
      ...constants('Segments Modes'),
    },
  },
} satisfies PackageModel;

export const expressJoiValidation = {
  name: 'express-joi-validation',
  module: {
    members: {
      createValidator: { call: { returns: 'express-joi-validation.Validator', keeps: [-1], connects: true } },
      ...constants('ContainerTypes'),
    },
  },
  types: { Validator: { members: each('body query params headers fields response', { call: checks }) } },
} satisfies PackageModel;

export const zodExpressMiddleware = {
  name: 'zod-express-middleware',
  module: {
    members: {
      ...each(
        `validateRequest validateRequestBody validateRequestParams validateRequestQuery processRequest processRequestBody
        processRequestParams processRequestQuery`,
        { call: checks },
      ),
      ...each('sendError sendErrors', { call: { returns: 'fresh', mutates: [1] } }),
    },
  },
} satisfies PackageModel;

/** Notes at start-up, for the class, what is decorated. */
const DECORATOR: TypeModel = { members: {}, call: { returns: 'fresh', data: true, mutates: ['this'] } };

/** `Transform` and `Type` are not listed: what the functions that they are given give comes out of what is made, or makes it. */
export const classTransformer = {
  name: 'class-transformer',
  module: {
    members: {
      ...each('Exclude Expose', { call: { returns: 'class-transformer.Decorator', mutates: ['this'], keeps: [-1] } }),
      ...pure('plainToInstance plainToClass', 'instance 0 | formed 1'),
      ...pure('instanceToPlain classToPlain', 'formed 0'),
      ...pure('serialize'),
    },
  },
  types: { Decorator: DECORATOR },
} satisfies PackageModel;
