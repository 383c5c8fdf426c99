/** Numbers, matrices, colours, places on a map. */
import type { Members } from '../build.js';
import { calls, chained, configures, constants, each, pure, values } from '../build.js';
import type { Call, PackageModel, ValueRef } from '../types.js';

/** A number that never changes: methods give new ones. */
const ARITHMETIC = `abs absoluteValue plus add minus sub times mul div dividedBy idiv dividedToIntegerBy mod modulo pow
  toPower exponentiatedBy sqrt squareRoot cbrt cubeRoot neg negated round floor ceil trunc shiftedBy integerValue exp ln
  log naturalExponential naturalLogarithm logarithm prec toDecimalPlaces toDP toSignificantDigits toSD clampedTo clamp sin
  sine cos cosine tan tangent`;
const ASKING = `toString toFixed toNumber toJSON toExponential toPrecision toFormat toFraction toHex toBinary toOctal valueOf
  cmp comparedTo eq equals isEqualTo gt greaterThan isGreaterThan gte greaterThanOrEqualTo isGreaterThanOrEqualTo lt
  lessThan isLessThan lte lessThanOrEqualTo isLessThanOrEqualTo isZero isNaN isFinite isInteger isInt isNegative isNeg
  isPositive isPos dp decimalPlaces sd precision`;
const big = (name: string, type: string, functions: Members): PackageModel => {
  const is: ValueRef = `${name}.${type}`;
  const made: Call = { returns: is };
  return {
    name,
    module: {
      call: made,
      construct: made,
      members: { ...functions, default: { call: made, construct: made, members: functions } },
    },
    types: { [type]: { members: { ...pure(ARITHMETIC, is), ...pure(ASKING) } } },
  };
};
const ROUNDING = `ROUND_UP ROUND_DOWN ROUND_CEIL ROUND_FLOOR ROUND_HALF_UP ROUND_HALF_DOWN ROUND_HALF_EVEN
  ROUND_HALF_CEIL ROUND_HALF_FLOOR`;

const VALUE: ValueRef = 'mathjs.Value';
// What is given an expression can be told to make a unit, or to set something: `evaluate('createUnit("knot")')`.
const MATHJS: Members = {
  ...configures(`evaluate compile parse parser chain simplify simplifyConstant simplifyCore derivative rationalize
    symbolicEqual resolve help config createUnit typed`),
  // They go on from where the last one was, where a seed is set.
  ...calls('random randomInt pickRandom', { stateful: true, does: ['random'] }),
  ...calls('partitionSelect', { mutates: [0], returns: 'fresh' }),
  ...constants('pi e tau phi i LN2 LN10 SQRT2 SQRT1_2 version'),
};
const MATHJS_VALUE: Call = { returns: VALUE, keeps: [-1] };
const mathjs = {
  name: 'mathjs',
  module: {
    members: {
      ...MATHJS,
      create: { call: { returns: 'mathjs.Instance' } },
      ...constants('all'),
    },
    others: MATHJS_VALUE,
  },
  types: {
    Instance: {
      identity: true,
      members: { ...MATHJS, ...configures('import on off once emit') },
      others: MATHJS_VALUE,
    },
    Value: {
      members: {
        ...pure('toString toArray size toNumber toNumeric format equals toHTML toTex', 'fresh'),
        ...pure('clone to toBest abs add sub mul div pow plus minus times', VALUE),
        ...pure('valueOf toJSON', 'this'),
        ...pure('get', 'contents | fresh'),
        ...chained('set resize reshape swapRows'),
      },
    },
  },
} satisfies PackageModel;

const MATRIX: ValueRef = 'ml-matrix.Matrix';
const DECOMPOSITIONS = `EigenvalueDecomposition EVD SingularValueDecomposition SVD LuDecomposition LU QrDecomposition QR
  CholeskyDecomposition CHO NIPALS Nipals`;
const mlMatrix = {
  name: 'ml-matrix',
  module: {
    members: {
      Matrix: {
        construct: { returns: MATRIX },
        members: {
          ...pure('zeros ones eye identity diag diagonal columnVector rowVector from1DArray add sub mul div', MATRIX),
          ...pure('isMatrix checkMatrix'),
          ...calls('rand random randInt', { returns: MATRIX, does: ['random'] }),
        },
      },
      ...pure('inverse pseudoInverse solve covariance correlation', MATRIX),
      ...pure('determinant linearDependencies', 'fresh'),
      ...each(DECOMPOSITIONS, { construct: { returns: 'ml-matrix.Decomposition', keeps: [-1] } }),
    },
  },
  types: {
    Matrix: {
      members: {
        ...pure(`to1DArray to2DArray toJSON toString get getRow getColumn sum mean max min maxIndex minIndex norm trace dot
          variance standardDeviation isSymmetric isSquare isEmpty isVector isRowVector isColumnVector isEchelonForm rank
          maxRow maxColumn minRow minColumn sumByRow`),
        ...pure(
          `mmul transpose clone subMatrix subMatrixRow subMatrixColumn getRowVector getColumnVector kroneckerProduct
          tensorProduct mpow strassen2x2 strassen3x3 mmulByTranspose`,
          MATRIX,
        ),
        ...chained(
          `set add sub mul div mod neg pow sqrt abs exp log fill setRow setColumn swapRows swapColumns addRow
          addColumn removeRow removeColumn addRowVector subRowVector mulRowVector divRowVector addColumnVector
          subColumnVector mulColumnVector divColumnVector mulRow mulColumn center scale sortRows sortColumns setSubMatrix
          apply`,
          { returns: 'this' },
        ),
        ...constants('rows columns size'),
      },
    },
    Decomposition: {
      members: {
        ...pure('solve inverse', MATRIX),
        ...pure('isFullRank isSingular isPositiveDefinite'),
        ...values(`diagonalMatrix eigenvectorMatrix leftSingularVectors rightSingularVectors upperTriangularMatrix
          lowerTriangularMatrix orthogonalMatrix`),
        ...constants(`realEigenvalues imaginaryEigenvalues determinant diagonal condition norm2 rank threshold
          pivotPermutationVector`),
      },
    },
  },
} satisfies PackageModel;

const h3 = { name: 'h3-js', module: { members: {}, others: { returns: 'fresh' } } } satisfies PackageModel;

export const numberModels: readonly PackageModel[] = [
  big('bignumber.js', 'Exact', {
    ...configures('config set'),
    ...pure('clone', 'unknown'),
    ...pure('max maximum min minimum sum fromFormat', 'bignumber.js.Exact'),
    ...pure('isBigNumber'),
    ...calls('random', { returns: 'bignumber.js.Exact', does: ['random'] }),
    ...constants(ROUNDING),
  }),
  big('decimal.js', 'Exact', {
    ...configures('config set'),
    ...pure('clone', 'unknown'),
    ...pure(
      `abs acos add atan atan2 cbrt ceil clamp cos div exp floor hypot ln log log10 log2 max min mod mul pow round sign sin
      sqrt sub sum tan trunc`,
      'decimal.js.Exact',
    ),
    ...pure('isDecimal'),
    ...calls('random', { returns: 'decimal.js.Exact', does: ['random'] }),
    ...constants(ROUNDING),
  }),
  big('big.js', 'Exact', constants('roundDown roundHalfUp roundHalfEven roundUp')),
  mathjs,
  mlMatrix,
  h3,
];
