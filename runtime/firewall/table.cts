/**
 * Reads:   nothing.
 * Gives:   what each function of Node's outward-facing modules is, for the recorder at home and the firewall in replicas.
 *
 * | kind           | at home          | at a replica's start-up                          | after it               |
 * | -------------- | ---------------- | ------------------------------------------------ | ---------------------- |
 * | pure           | -                | -                                                | -                      |
 * | clock, random, | recorded         | answered from the record, else really done       | -                      |
 * | read           |                  |                                                  |                        |
 * | unlike         | -                | done, and noted: no two threads get the same     | -                      |
 * | effect         | recorded         | answered from the record, else not done          | told to the supervisor |
 * | run            | recorded         | answered from the record, else the replica ends  | told                   |
 * | later          | -                | never calls back                                 | -                      |
 * | later-effect   | -                | not done, never calls back                       | told                   |
 * | compute        | -                | done: it touches nothing but memory              | -                      |
 * | promise        | recorded         | answered from the record, else never settles     | -                      |
 * | promise-effect | recorded         | answered from the record, else never settles     | told                   |
 * | special        | see the recorder | see `inert-*.cts`                                | see there              |
 * | give-up        | -                | the replica ends                                 | told                   |
 *
 * What is not listed is `give-up`: a test notices a Node version's new functions. `module.member.inner` is a function
 * that hangs on another one.
 */

type Kind =
  | 'pure'
  | 'clock'
  | 'random'
  | 'read'
  | 'unlike'
  | 'effect'
  | 'run'
  | 'later'
  | 'later-effect'
  | 'compute'
  | 'promise'
  | 'promise-effect'
  | 'special'
  | 'give-up';

type ModuleTable = { readonly [kind in Kind]?: string };

const DNS_QUERIES =
  'lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs ' +
  'resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse';
const DNS_SETTINGS = 'Resolver getServers setServers getDefaultResultOrder setDefaultResultOrder';

const TABLE: { readonly [module: string]: ModuleTable } = {
  fs: {
    read:
      'accessSync existsSync fstatSync lstatSync readSync readdirSync readFileSync readlinkSync readvSync realpathSync ' +
      'realpathSync.native statSync statfsSync globSync',
    effect:
      'appendFileSync chmodSync chownSync closeSync copyFileSync cpSync fchmodSync fchownSync fdatasyncSync fsyncSync ' +
      'ftruncateSync futimesSync lchmodSync lchownSync linkSync lutimesSync mkdirSync mkdtempSync openSync renameSync ' +
      'rmSync rmdirSync symlinkSync truncateSync unlinkSync utimesSync writeFileSync writeSync writevSync',
    later:
      'access exists fstat glob lstat opendir read readFile readdir readlink readv realpath realpath.native stat statfs',
    'later-effect':
      'appendFile chmod chown close copyFile cp fchmod fchown fdatasync fsync ftruncate futimes lchmod lchown link ' +
      'lutimes mkdir mkdtemp open rename rm rmdir symlink truncate unlink utimes write writeFile writev',
    special: 'createReadStream createWriteStream watch watchFile',
    pure:
      'Dirent Stats ReadStream WriteStream FileReadStream FileWriteStream _toUnixTimestamp Dir opendirSync openAsBlob ' +
      'openAsBlobSync unwatchFile',
    'give-up': 'mkdtempDisposableSync Utf8Stream',
  },
  'fs/promises': {
    promise: 'access lstat readFile readdir readlink realpath stat statfs',
    'promise-effect':
      'appendFile chmod chown copyFile cp lchmod lchown link lutimes mkdir mkdtemp rename rm rmdir symlink truncate ' +
      'unlink utimes writeFile',
    special: 'open watch',
    pure: 'opendir glob',
    'give-up': 'mkdtempDisposable',
  },
  net: {
    special: 'connect createConnection',
    pure:
      'createServer isIP isIPv4 isIPv6 Server Socket Stream BlockList SocketAddress _normalizeArgs ' +
      '_setSimultaneousAccepts getDefaultAutoSelectFamily setDefaultAutoSelectFamily ' +
      'getDefaultAutoSelectFamilyAttemptTimeout setDefaultAutoSelectFamilyAttemptTimeout',
    'give-up': '_createServerHandle BoundSocket _TransferredBoundSocket',
  },
  tls: {
    pure:
      'getCiphers convertALPNProtocols checkServerIdentity createSecureContext SecureContext TLSSocket Server ' +
      'createServer createSecurePair connect getCertificateCompressionAlgorithms getCACertificates ' +
      'setDefaultCACertificates',
  },
  http: {
    pure:
      '_connectionListener Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer ' +
      'validateHeaderName validateHeaderValue get request setMaxIdleHTTPParsers CloseEvent MessageEvent ' +
      'setGlobalProxyFromEnv',
    special: 'WebSocket',
  },
  https: { pure: 'Agent Server createServer get request' },
  http2: {
    special: 'connect',
    pure:
      'createServer createSecureServer getDefaultSettings getPackedSettings getUnpackedSettings performServerHandshake ' +
      'Http2ServerRequest Http2ServerResponse',
  },
  dgram: { pure: 'createSocket Socket', 'give-up': '_createSocketHandle' },
  dns: { later: DNS_QUERIES, pure: DNS_SETTINGS },
  'dns/promises': { special: DNS_QUERIES, pure: DNS_SETTINGS },
  child_process: {
    run: 'execFileSync execSync spawnSync',
    special: 'exec execFile fork spawn',
    pure: 'ChildProcess',
    'give-up': '_forkChild',
  },
  cluster: { 'give-up': 'fork', pure: 'Worker setupPrimary setupMaster disconnect' },
  worker_threads: {
    special: 'Worker BroadcastChannel',
    pure:
      'MessagePort MessageChannel markAsUntransferable markAsUncloneable isMarkedAsUntransferable ' +
      'moveMessagePortToContext receiveMessageOnPort setEnvironmentData getEnvironmentData',
    'give-up': 'postMessageToThread',
  },
  os: {
    read:
      'arch availableParallelism cpus endianness freemem getPriority homedir hostname loadavg machine networkInterfaces ' +
      'platform release tmpdir totalmem type uptime userInfo version',
    effect: 'setPriority',
  },
  // `getRandomValues` is a getter that gives the one of `Crypto`.
  crypto: {
    random:
      'randomBytes randomFillSync randomInt randomUUID randomUUIDv7 generateKeyPairSync generateKeySync ' +
      'generatePrimeSync pseudoRandomBytes prng rng encapsulate publicEncrypt sign',
    unlike: 'createDiffieHellman',
    later: 'randomFill generateKeyPair generateKey generatePrime',
    compute: 'checkPrime hkdf pbkdf2 scrypt argon2',
    pure:
      'checkPrimeSync createCipheriv createDecipheriv createDiffieHellmanGroup getRandomValues createECDH createHash ' +
      'createHmac createMac createPrivateKey createPublicKey createSecretKey createSign createVerify diffieHellman getCiphers ' +
      'getCipherInfo getCurves getDiffieHellman getHashes getMacs parsePKCS12 hkdfSync pbkdf2Sync privateDecrypt privateEncrypt ' +
      'publicDecrypt scryptSync argon2Sync timingSafeEqual getFips verify hash Certificate Cipher ' +
      'Cipheriv Decipher Decipheriv DiffieHellman DiffieHellmanGroup ECDH Hash Hmac KeyObject Sign Verify ' +
      'X509Certificate secureHeapUsed createCipher createDecipher decapsulate',
    'give-up': 'setEngine setFips',
  },
  readline: { pure: 'Interface clearLine clearScreenDown createInterface cursorTo emitKeypressEvents moveCursor' },
  'readline/promises': { pure: 'Interface Readline createInterface' },
  repl: { pure: 'writer REPLServer Recoverable isValidSyntax start' },
  inspector: { effect: 'open close waitForDebugger', pure: 'url Session' },
  timers: {
    special: 'setTimeout setImmediate setInterval',
    pure: 'clearTimeout clearImmediate clearInterval unenroll enroll',
    effect: '_unrefActive active',
  },
  'timers/promises': { special: 'setTimeout setImmediate setInterval' },
  v8: {
    read: 'getHeapStatistics getHeapSpaceStatistics getHeapCodeStatistics getCppHeapStatistics',
    effect:
      'setFlagsFromString takeCoverage stopCoverage setHeapSnapshotNearHeapLimit setHeapProfileNearHeapLimit ' +
      'writeHeapSnapshot',
    pure:
      'cachedDataVersionTag Serializer Deserializer DefaultSerializer DefaultDeserializer deserialize serialize ' +
      'queryObjects GCProfiler getHeapSnapshot isStringOneByteRepresentation startCpuProfile startHeapProfile',
  },
  vm: {
    pure: 'Script createContext createScript runInContext runInNewContext runInThisContext isContext compileFunction measureMemory',
  },
  perf_hooks: {
    pure:
      'Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList ' +
      'PerformanceResourceTiming monitorEventLoopDelay createHistogram createSlidingWindowHistogram ' +
      'importHistogram timerify',
    read: 'eventLoopUtilization',
  },
  diagnostics_channel: {
    pure: 'channel hasSubscribers subscribe tracingChannel unsubscribe Channel boundedChannel BoundedChannel',
  },
  zlib: {
    compute:
      'deflate gzip deflateRaw unzip inflate gunzip inflateRaw brotliCompress brotliDecompress zstdCompress ' +
      'zstdDecompress',
    pure:
      'crc32 Deflate Inflate Gzip Gunzip DeflateRaw InflateRaw Unzip BrotliCompress BrotliDecompress deflateSync ' +
      'gzipSync deflateRawSync unzipSync inflateSync gunzipSync inflateRawSync brotliCompressSync brotliDecompressSync ' +
      'createDeflate createInflate createDeflateRaw createInflateRaw createGzip createGunzip createUnzip ' +
      'createBrotliCompress createBrotliDecompress ZstdCompress ZstdDecompress zstdCompressSync zstdDecompressSync ' +
      'createZstdCompress createZstdDecompress ZipEntry ZipBuffer getMaxZipContentSize setMaxZipContentSize',
    'give-up': 'ZipFile createZipArchive createZipArchiveSync zipFiles',
  },
  wasi: { 'give-up': 'WASI' },
  sqlite: { 'give-up': 'DatabaseSync backup', pure: 'StatementSync Session' },
  trace_events: { pure: 'createTracing getEnabledCategories' },
  tty: { read: 'isatty', 'give-up': 'ReadStream WriteStream' },
  process: {
    clock: 'uptime hrtime hrtime.bigint',
    read:
      'cpuUsage resourceUsage memoryUsage memoryUsage.rss constrainedMemory availableMemory threadCpuUsage getuid geteuid getgid ' +
      'getegid getgroups',
    special:
      'exit reallyExit abort kill _kill chdir cwd umask initgroups setgroups setegid seteuid setgid setuid dlopen ' +
      'binding openStdin execve send disconnect',
    effect: '_rawDebug _debugProcess _debugEnd',
    pure:
      'getActiveResourcesInfo _getActiveRequests _getActiveHandles loadEnvFile assert ' +
      'setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback addUncaughtExceptionCaptureCallback ' +
      'emitWarning nextTick ' +
      '_tickCallback setSourceMapsEnabled getBuiltinModule ref unref _fatalException _startProfilerIdleNotifier ' +
      '_stopProfilerIdleNotifier',
    'give-up': '_linkedBinding',
  },
  performance: { clock: 'now', pure: 'mark measure clearMarks clearMeasures getEntries toJSON' },
  Math: { random: 'random' },
  Date: { clock: 'now' },
  Crypto: { random: 'getRandomValues randomUUID' },
  // What `new` gives is native: no record can make two of them the same.
  Sign: { random: 'sign' },
  ECDH: { unlike: 'generateKeys' },
  DiffieHellman: { unlike: 'generateKeys' },
  SubtleCrypto: {
    promise: 'generateKey',
    compute:
      'encrypt decrypt sign verify digest deriveKey deriveBits importKey exportKey wrapKey unwrapKey encapsulateBits ' +
      'encapsulateKey decapsulateBits decapsulateKey getPublicKey',
  },
  WebAssembly: { compute: 'compile instantiate compileStreaming instantiateStreaming' },
  LockManager: { later: 'request query' },
  report: { effect: 'writeReport', read: 'getReport' },
  module: {
    // Hooks run in a thread of their own, where no firewall is.
    effect: 'register enableCompileCache flushCompileCache',
    pure:
      '_stat wrap _debug isBuiltin _readPackage _findPath _nodeModulePaths _resolveLookupPaths _load _resolveFilename ' +
      'createRequire _initPaths _preloadModules syncBuiltinESMExports Module runMain findSourceMap SourceMap ' +
      'registerHooks findPackageJSON getCompileCacheDir stripTypeScriptTypes getSourceMapsSupport setSourceMapsSupport',
  },
  globalThis: { special: 'Date fetch setTimeout setImmediate setInterval WebSocket EventSource BroadcastChannel' },
};

/** Calls that fill a buffer: which argument it is. */
const FILLS: { readonly [callee: string]: number } = {
  'fs.readSync': 1,
  'fs.readvSync': 1,
  'crypto.randomFillSync': 0,
  'crypto.getRandomValues': 0,
  'Crypto.getRandomValues': 0,
};

const knownKinds = new Map<string, ReadonlyMap<string, Kind>>();

function kindsOf(module: string): ReadonlyMap<string, Kind> {
  const known = knownKinds.get(module);
  if (known !== undefined) return known;
  const kinds = new Map<string, Kind>();
  for (const [kind, names] of Object.entries(TABLE[module] ?? {})) {
    for (const name of names.split(' ')) kinds.set(name, kind as Kind);
  }
  knownKinds.set(module, kinds);
  return kinds;
}

function kindOf(module: string, member: string): Kind {
  return kindsOf(module).get(member) ?? 'give-up';
}

export = { TABLE, FILLS, kindsOf, kindOf };
