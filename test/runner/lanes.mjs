// The lanes: named sets of tests. CONTRIBUTING.md has their table with content, duration and requirements.
import os from 'node:os'

const inFolder = (folder) => (file) => file.startsWith(`test/${folder}/`)
const oneOf = (names) => (file) => names.includes(file.replace(/^test\/|\.test\.ts$/g, ''))
const voiceTests = [
  ...['agent-page-in-browser', 'barge-in', 'conversation-in-browser', 'truth'].map((name) => `session/${name}`),
  'process/spoken-calls',
  'languages/spoken',
]
/** Tests that use the embedded engines with many recordings, or at the speed of speech. */
const speechTests = [
  ...['conform/command', 'local/alignment', 'local/streaming', 'phone/demo', 'router/speech'],
  ...['conversation/hibari-words', 'local/voice-errors', 'speech/recognized-forms'],
]
/** Measures when captions arrive, with a real recognizer in real time. */
const timedSpeech = 'test/realtime/captions.test.ts'
const seeded = 'PARLEY_TEST_SEED=${PARLEY_TEST_SEED:-$RANDOM$RANDOM}'

/**
 * A lane has files and their environment, or a command that prints the line `N passed, N failed`. A file belongs to the
 * first lane that takes it. `sideBySide`: how many suites run at once, if not one per core. `bytesMax`: the largest
 * size for a suite's sources. A lane whose tests mostly wait has small suites, because then more suites can wait at
 * once.
 */
export const lanes = {
  static: { command: 'nice -n 10 make --no-print-directory --keep-going generated-fresh lint' },
  voices: { files: oneOf(voiceTests), env: { PARLEY_TEST_SLOW: '1' }, sideBySide: 1 },
  // Frames of a browser are late if anything else runs, so this lane is not in .ci/run.
  'console-speed': { files: oneOf(['speed/console-pages']), sideBySide: 1 },
  browser: { files: (file) => file.endsWith('-in-browser.test.ts'), sideBySide: 1 },
  // Java and Maven are not on every machine, and their first build takes minutes. Each file compiles the client into
  // the same folder, so the files of the lane run one after another. This is true for Rust and C# too.
  java: { files: oneOf(['clients/java-client', 'clients/scenario/java']), bytesMax: 1, sideBySide: 1 },
  // Few machines have cargo, and the first build takes minutes.
  rust: { files: oneOf(['clients/rust-client', 'clients/scenario/rust']), bytesMax: 1, sideBySide: 1 },
  csharp: { files: oneOf(['clients/csharp-client', 'clients/scenario/csharp']), bytesMax: 1, sideBySide: 1 },
  // Makes clients in Go, Python and Java with other projects' generators, and compiles these clients.
  'foreign-generators': { files: inFolder('foreign-generators'), bytesMax: 1, sideBySide: 1 },
  'client-changes': {
    files: inFolder('clients/changes'),
    command: 'node test/run.mjs --seconds=7200 test/clients/changes/*.test.ts',
  },
  clients: {
    files: (file) => inFolder('clients')(file) || /\/vendors\/\w+\/sdk\.test\.ts$/.test(file),
    // Third-party programs change the process that loads them, so each file gets a separate process.
    bytesMax: 1,
  },
  sip: { files: inFolder('sip'), command: 'test/sip/lane.sh' },
  schemathesis: {
    files: inFolder('schemathesis'),
    command: 'node test/run.mjs --seconds=14400 test/schemathesis/*.test.ts',
  },
  livekit: { files: inFolder('livekit'), command: 'test/livekit/lane.sh' },
  s3: { files: inFolder('s3'), command: 'test/s3/lane.sh' },
  helm: { files: oneOf(['deploy/chart']), command: 'test/deploy/chart-lane.sh' },
  speech: { files: oneOf(speechTests), sideBySide: 1 },
  whisper: {
    files: oneOf(['local/whisper']),
    command:
      'PARLEY_TEST_WHISPER=1 node test/run.mjs --jobs=1 --seconds=1800 test/local/whisper.test.ts test/languages/spoken.test.ts',
  },
  // These tests measure time, so they run one suite at a time.
  // Rolling restarts count each lost request. If the system suspends a server between its last accept and the close of
  // its port, a request is lost, so nothing runs beside them.
  speed: { files: (file) => file === timedSpeech || /^test\/(speed|proxies)\//.test(file), sideBySide: 1 },
  process: { files: (file) => /^test\/(process|deploy)\//.test(file), bytesMax: 20_000 },
  // Many of these tests wait, so two suites run per core, as long as Postgres has enough connections
  // (test/store/run-postgres.ts).
  fast: { files: () => true, sideBySide: Math.min(8, 2 * os.availableParallelism()) },
  debian13: { command: 'test/debian13.sh test/engine/*.test.ts test/http/*.test.ts test/ws/*.test.ts' },
  'debian13-product': { command: 'test/debian13.sh' },
  image: { command: 'test/debian13.sh test/deploy/*.test.ts' },
  production: { command: 'test/deploy/production.sh' },
  webhooks: {
    command: `${seeded} PARLEY_TEST_SLOW=1 node test/run.mjs --jobs=1 ${['process/webhook-kills', 'process/webhook-postgres-killed', 'process/rmsg-kills', 'speed/webhook-fairness'].map((name) => `test/${name}.test.ts`).join(' ')}`,
  },
  transfers: {
    command: `${seeded} PARLEY_TEST_SEQUENCES=\${PARLEY_TEST_SEQUENCES:-100000} node test/run.mjs --seconds=3600 ${['plan', 'sequences'].map((name) => `test/transfers/${name}.test.ts`).join(' ')}`,
  },
  properties: {
    command: `${seeded} node test/run.mjs $(grep -rlE 'import .*fc.* from .*random' test --include='*.test.ts')`,
  },
  usage: {
    command: `${seeded} PARLEY_TEST_REQUESTS=\${PARLEY_TEST_REQUESTS:-10000} node test/run.mjs --seconds=3600 test/platform/usage.test.ts`,
  },
  metrics: {
    command:
      'PARLEY_TEST_REQUESTS=${PARLEY_TEST_REQUESTS:-100000} node test/run.mjs --seconds=3600 test/deploy/board.test.ts',
  },
  carrier: {
    command: `make --no-print-directory vendor-clients && node test/run.mjs ${['carrier/carrier-openapi', 'simulator/conformance', 'vendors/telnyx/sdk'].map((name) => `test/${name}.test.ts`).join(' ')}`,
  },
}

const ofProduct = [['fast'], ['process']]
/** These rows of lanes run at the same time. They take about the same time on two cores. */
const beside = [
  ['static', 'debian13'],
  ['fast', 'clients', 'sip'],
  ['process', 'speech', 'browser'],
]
const long = [
  'java',
  'rust',
  'csharp',
  'client-changes',
  'foreign-generators',
  'voices',
  'whisper',
  'console-speed',
  'livekit',
  's3',
  'helm',
  'debian13-product',
  'image',
  'production',
]
const large = ['webhooks', 'transfers', 'properties', 'usage', 'metrics', 'schemathesis', 'carrier']

/** The stages run one after another. The rows in a stage run at once, and the lanes in a row one after another. */
export const groups = {
  test: [ofProduct],
  ci: [beside, [['speed']]],
  all: [beside, [['speed']], [[...long, ...large]]],
}
