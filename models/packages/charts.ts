/** What drawings are computed from: scales, shapes, layouts, colours, graphs, places. */
import type { Members } from '../build.js';
import { calls, chained, configures, constants, each, listed, pure, sync, withDefault } from '../build.js';
import type { Call, Member, PackageModel, TypeModel, ValueRef } from '../types.js';

const one = (name: string, module: Member): PackageModel => ({ name, module });

/** What is set without an argument is given: it counts as set. Accessors that were given are called with the data. */
const GENERATOR: TypeModel = {
  identity: true,
  call: { returns: 'unknown | contents', keeps: [] },
  members: {
    ...chained(`domain range rangeRound clamp unknown nice interpolate interpolator round padding paddingInner paddingOuter
      align base exponent constant quantiles x y x0 x1 y0 y1 defined curve context innerRadius outerRadius cornerRadius
      startAngle endAngle padAngle padRadius value sort sortValues keys order offset size type source target angle radius
      digits lineX0 lineX1 lineY0 lineY1`),
    ...pure('ticks tickFormat invert invertExtent bandwidth step thresholds centroid'),
    ...pure('copy', 'd3-scale.Generator'),
  },
};
const makes: Call = { returns: 'd3-scale.Generator', keeps: [-1] };

const SCALES: Members = {
  ...each(
    `scaleBand scaleDiverging scaleDivergingLog scaleDivergingPow scaleDivergingSqrt scaleDivergingSymlog scaleIdentity
    scaleLinear scaleLog scaleOrdinal scalePoint scalePow scaleQuantile scaleQuantize scaleRadial scaleSequential
    scaleSequentialLog scaleSequentialPow scaleSequentialQuantile scaleSequentialSqrt scaleSequentialSymlog scaleSqrt
    scaleSymlog scaleThreshold scaleTime scaleUtc`,
    { call: makes },
  ),
  ...constants('scaleImplicit'),
};
const SHAPES: Members = {
  ...each(
    'arc area areaRadial line lineRadial link linkHorizontal linkRadial linkVertical pie stack symbol radialArea radialLine',
    { call: makes },
  ),
  ...pure('pointRadial'),
  ...constants(`curveBasis curveBasisClosed curveBasisOpen curveBumpX curveBumpY curveBundle curveCardinal
    curveCardinalClosed curveCardinalOpen curveCatmullRom curveCatmullRomClosed curveCatmullRomOpen curveLinear
    curveLinearClosed curveMonotoneX curveMonotoneY curveNatural curveStep curveStepAfter curveStepBefore
    stackOffsetDiverging stackOffsetExpand stackOffsetNone stackOffsetSilhouette stackOffsetWiggle stackOrderAppearance
    stackOrderAscending stackOrderDescending stackOrderInsideOut stackOrderNone stackOrderReverse symbolAsterisk
    symbolCircle symbolCross symbolDiamond symbolDiamond2 symbolPlus symbolSquare symbolSquare2 symbolStar symbolTimes
    symbolTriangle symbolTriangle2 symbolWye symbolX symbols symbolsFill symbolsStroke`),
};

const accessing = (returns: ValueRef): Call => ({
  ruptures: [sync(1, ['contents 0', 'fresh', 'argument 0'])],
  returns,
});
const LISTS: Members = {
  ...each(
    `count cumsum deviation extent fcumsum fsum maxIndex mean median medianIndex minIndex mode quantile quantileIndex
    sum variance every some greatestIndex leastIndex`,
    { call: accessing('fresh') },
  ),
  ...each('max min greatest least', { call: accessing('contents 0 | result 1') }),
  ...each('filter reverse', { call: accessing('copy 0') }),
  ...each('map', { call: accessing('results 1') }),
  ...pure('range ticks tickIncrement tickStep nice rank'),
  ...pure('ascending descending'),
  ...pure('disjoint superset subset'),
  ...pure(
    `group groups index indexes rollup rollups flatGroup flatRollup groupSort merge pairs permute cross transpose zip
    union intersection difference sort reduce`,
    'unknown',
  ),
  ...calls('quickselect', { mutates: [0], returns: 'argument 0' }),
  ...calls('shuffle', { mutates: [0], returns: 'argument 0', does: ['random'] }),
  ...calls('blur blur2 blurImage', { mutates: [0], returns: 'argument 0' }),
};

const HIERARCHY: Members = {
  hierarchy: { call: { returns: 'd3-hierarchy.Node', keeps: [-1] } },
  ...each('treemap pack tree cluster partition', { call: { returns: 'd3-hierarchy.Layout' } }),
  ...constants('treemapBinary treemapDice treemapResquarify treemapSlice treemapSliceDice treemapSquarify'),
};
const hierarchy = {
  name: 'd3-hierarchy',
  module: { members: HIERARCHY },
  types: {
    Node: {
      identity: true,
      members: {
        ...chained('sum sort count each eachAfter eachBefore'),
        ...pure('leaves descendants ancestors path links find', 'unknown | contents'),
        copy: { call: { returns: 'd3-hierarchy.Node', keeps: [-1] } },
      },
    },
    Layout: {
      identity: true,
      call: { returns: 'argument 0', mutates: [0] },
      members:
        chained(`size padding paddingInner paddingOuter paddingTop paddingRight paddingBottom paddingLeft tile round
        nodeSize separation radius`),
    },
  },
} satisfies PackageModel;

const INTERPOLATIONS: Members = {
  ...each(
    `interpolate interpolateArray interpolateBasis interpolateBasisClosed interpolateCubehelix interpolateCubehelixLong
    interpolateDate interpolateDiscrete interpolateHcl interpolateHclLong interpolateHsl interpolateHslLong interpolateHue
    interpolateLab interpolateNumber interpolateRgb interpolateRgbBasis interpolateRgbBasisClosed interpolateRound
    interpolateString interpolateZoom piecewise`,
    { call: { returns: 'd3-interpolate.Interpolator', keeps: [-1] } },
  ),
};
// Of lists and objects the same one is filled in again at each call: `interpolateArray` is not among these.
const interpolate = {
  name: 'd3-interpolate',
  module: { members: INTERPOLATIONS },
  types: { Interpolator: { call: { returns: 'fresh' }, members: {} } },
} satisfies PackageModel;

const SEPARATED: Members = {
  ...pure('csvParse tsvParse csvParseRows tsvParseRows', 'unknown'),
  ...pure('csvFormat csvFormatBody csvFormatRows csvFormatRow csvFormatValue tsvFormat tsvFormatBody tsvFormatRows'),
  ...pure('autoType', 'argument 0'),
};

const NUMBER_FORMATS: Members = {
  ...pure('format formatPrefix', 'd3-interpolate.Interpolator'),
  ...pure('precisionFixed precisionPrefix precisionRound'),
  ...configures('formatDefaultLocale'),
};
const TIME_FORMATS: Members = {
  ...pure('timeFormat utcFormat timeParse utcParse', 'd3-interpolate.Interpolator'),
  ...constants('isoFormat isoParse'),
  ...configures('timeFormatDefaultLocale'),
};

const GRAPH_CHANGES = `addNode mergeNode updateNode dropNode dropEdge dropDirectedEdge dropUndirectedEdge clear clearEdges
  setAttribute updateAttribute removeAttribute replaceAttributes mergeAttributes updateAttributes updateEachNodeAttributes
  updateEachEdgeAttributes import addEdge mergeEdge updateEdge addDirectedEdge mergeDirectedEdge updateDirectedEdge
  addUndirectedEdge mergeUndirectedEdge updateUndirectedEdge addEdgeWithKey mergeEdgeWithKey updateEdgeWithKey
  addDirectedEdgeWithKey mergeDirectedEdgeWithKey updateDirectedEdgeWithKey addUndirectedEdgeWithKey
  mergeUndirectedEdgeWithKey updateUndirectedEdgeWithKey setNodeAttribute updateNodeAttribute removeNodeAttribute
  replaceNodeAttributes mergeNodeAttributes updateNodeAttributes setEdgeAttribute updateEdgeAttribute removeEdgeAttribute
  replaceEdgeAttributes mergeEdgeAttributes updateEdgeAttributes`;
const GRAPH: Call = { returns: 'graphology.Graph', keeps: [-1] };
const graphology = {
  name: 'graphology',
  module: withDefault({
    construct: GRAPH,
    members: each('Graph DirectedGraph UndirectedGraph MultiGraph MultiDirectedGraph MultiUndirectedGraph', {
      construct: GRAPH,
      members: each('from', { call: GRAPH }),
    }),
  }),
  types: {
    Graph: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        ...chained(GRAPH_CHANGES, { returns: 'unknown' }),
        ...pure(`hasNode hasEdge hasDirectedEdge hasUndirectedEdge degree inDegree outDegree nodes edges neighbors
          inNeighbors outNeighbors inEdges outEdges source target extremities opposite isDirected areNeighbors
          areInNeighbors areOutNeighbors edge directedEdge undirectedEdge hasNodeAttribute hasEdgeAttribute hasAttribute
          isSelfLoop hasExtremity`),
        ...pure(
          'getNodeAttribute getNodeAttributes getEdgeAttribute getEdgeAttributes getAttribute getAttributes export',
          'unknown | contents',
        ),
        ...each('forEachNode mapNodes filterNodes findNode someNode everyNode', {
          call: { ruptures: [sync(0, ['fresh', 'unknown | contents'])], returns: 'unknown' },
        }),
        ...pure('copy', 'graphology.Graph'),
        ...constants('order size directedSize undirectedSize type multi allowSelfLoops'),
      },
    },
  },
} satisfies PackageModel;
const SHORTEST: Member = {
  members: {
    ...pure('bidirectional singleSource singleSourceLength undirectedSingleSourceLength edgePathFromNodePath'),
    ...each('dijkstra astar', { members: pure('bidirectional singleSource') }),
  },
};

const rbush = {
  name: 'rbush',
  module: withDefault({ construct: { returns: 'rbush.Tree' } }),
  types: {
    Tree: {
      identity: true,
      members: {
        ...chained('insert load remove clear fromJSON'),
        ...pure('search all toJSON', 'unknown | contents'),
        ...pure('collides'),
      },
    },
  },
} satisfies PackageModel;
const kdbush = {
  name: 'kdbush',
  module: withDefault({
    construct: { returns: 'kdbush.Index' },
    members: each('from', { call: { returns: 'kdbush.Index', keeps: [0] } }),
  }),
  types: { Index: { identity: true, members: { ...chained('add finish', { keeps: [] }), ...pure('range within') } } },
} satisfies PackageModel;
const supercluster = {
  name: 'supercluster',
  module: withDefault({ construct: { returns: 'supercluster.Index', keeps: [-1] } }),
  types: {
    Index: {
      identity: true,
      members: {
        ...chained('load'),
        ...pure('getClusters getChildren getLeaves getTile', 'unknown | contents'),
        ...pure('getClusterExpansionZoom'),
      },
    },
  },
} satisfies PackageModel;

const COLOR: Call = { returns: 'color.Color' };
const color = {
  name: 'color',
  module: withDefault({
    call: COLOR,
    construct: COLOR,
    members: each('rgb hsl hsv hwb cmyk lab lch xyz', { call: COLOR }),
  }),
  // Each method gives another colour, or numbers and texts.
  types: { Color: { members: {}, others: COLOR } },
} satisfies PackageModel;

const chroma = {
  name: 'chroma-js',
  module: withDefault({
    call: { returns: 'chroma-js.Color' },
    members: {
      ...pure(
        'rgb hsl hsv hsi lab lch hcl oklab oklch cmyk hex css num temperature mix interpolate average blend',
        'chroma-js.Color',
      ),
      ...each('scale cubehelix bezier', { call: { returns: 'chroma-js.Scale', keeps: [-1] } }),
      ...calls('gl', { returns: 'chroma-js.Color', mutates: [-1] }),
      ...calls('random', { returns: 'chroma-js.Color', does: ['random'] }),
      ...pure('contrast contrastAPCA deltaE distance valid limits analyze'),
      ...constants('version'),
    },
  }),
  types: {
    Color: {
      members: {
        ...pure(
          'brighten darken brighter darker saturate desaturate mix interpolate shade tint premultiply',
          'chroma-js.Color',
        ),
        ...chained('alpha set luminance', { returns: 'this | fresh' }),
        ...pure(
          'hex rgb rgba hsl hsv hsi lab lch hcl oklab oklch cmyk gl css num name get temperature clipped toString',
        ),
      },
    },
    Scale: {
      identity: true,
      call: { returns: 'chroma-js.Color' },
      members: {
        ...chained(
          'domain range mode padding gamma classes correctLightness cache nodata out start rotations hue lightness',
        ),
        ...pure('colors'),
        ...pure('scale', 'chroma-js.Scale'),
      },
    },
  },
} satisfies PackageModel;

const D3: Members = {
  ...SCALES,
  ...SHAPES,
  ...LISTS,
  ...HIERARCHY,
  ...INTERPOLATIONS,
  ...SEPARATED,
  ...NUMBER_FORMATS,
  ...TIME_FORMATS,
};

const STATISTICS: Member = {
  members: {
    ...calls('shuffleInPlace quickselect permutationsHeap', { mutates: [0], returns: 'fresh' }),
    ...calls('shuffle sample sampleWithReplacement kMeansCluster permutationTest', {
      does: ['random'],
      returns: 'copy 0',
    }),
    ...pure('chunk combinations combinationsReplacement', 'unknown'),
  },
  others: { returns: 'fresh' },
};

export const chartModels: readonly PackageModel[] = [
  { name: 'd3-scale', settingsOf: 'd3', module: { members: SCALES }, types: { Generator: GENERATOR } },
  one('d3-shape', { members: SHAPES }),
  one('d3-array', { members: LISTS }),
  hierarchy,
  interpolate,
  one('d3-dsv', { members: SEPARATED }),
  { ...one('d3-format', { members: NUMBER_FORMATS }), settingsOf: 'd3' },
  { ...one('d3-time-format', { members: TIME_FORMATS }), settingsOf: 'd3' },
  one('d3', { members: D3 }),
  graphology,
  ...listed('graphology-shortest-path').map((name) => one(name, withDefault(SHORTEST))),
  rbush,
  kdbush,
  supercluster,
  color,
  chroma,
  one('simple-statistics', STATISTICS),
];
