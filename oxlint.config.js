import { readdirSync } from 'node:fs'

/**
 * Allowed imports by folder. Only app/ constructs, so it may import the whole product. test/ and bench/ may import
 * everything.
 */
const mayImport = {
  app: [
    'audio',
    'runtime',
    'generated',
    'domain',
    'store',
    'providers',
    'handlers',
    'simulator',
    'mock',
    'cli',
    'codegen',
    'conform',
  ],
  audio: [],
  runtime: ['audio'],
  generated: ['runtime'],
  domain: ['generated', 'audio'],
  store: ['domain', 'generated', 'runtime'],
  providers: ['domain', 'generated', 'runtime', 'audio'],
  handlers: ['domain', 'generated', 'runtime', 'audio'],
  simulator: ['runtime', 'audio'],
  mock: ['generated', 'runtime', 'audio'],
  cli: ['generated'],
  conform: ['generated', 'codegen', 'audio'],
  codegen: [],
}
const folders = Object.keys(mayImport)
const direction = folders.map((folder) => {
  const refused = [...folders, 'test', 'bench'].filter((f) => f !== folder && !mayImport[folder].includes(f))
  const message = `${folder}/ may import only: ${mayImport[folder].join(', ') || 'nothing of ours'}`
  const pattern = {
    regex: `^(\\.\\./)+(main\\.ts|(${refused.join('|')})/)`,
    message,
  }
  return { files: [`${folder}/**/*.ts`], rules: { 'no-restricted-imports': ['error', { patterns: [pattern] }] } }
})

/**
 * Allowed imports inside the console's program. Only data/ calls the generated clients; other folders take just their
 * types. A page imports no other page.
 */
const consoleMayImport = { data: [], parts: ['data'], pages: ['data', 'parts'], shell: ['data', 'parts', 'pages'] }
const namesIn = (folder) => readdirSync(new URL(folder, import.meta.url)).filter((name) => !name.startsWith('.'))
const inFolder = (folder, allowed) =>
  namesIn(folder).flatMap((name) => (allowed.includes(name) ? [] : [`${folder}/${name}`.replace('./', '')]))
const escaped = (name) => name.replaceAll('.', '\\.')
/** All that is not for the console's program: in console/, and as paths from the root. */
const besideProgram = namesIn('console')
  .filter((name) => !['app', 'session'].includes(name))
  .map(escaped)
const ofTheServer = [
  ...inFolder('.', ['console', 'generated']),
  ...inFolder('generated', ['clients', 'console']),
  ...inFolder('generated/clients', ['typescript']),
].map(escaped)
const inConsole = Object.entries(consoleMayImport).map(([folder, allowed]) => {
  const refused = Object.keys(consoleMayImport).filter((other) => other !== folder && !allowed.includes(other))
  const patterns = [
    {
      regex: `^(\\.\\./)+(${[...refused, 'main'].join('|')})[/.]`,
      message: `${folder}/ may import only: ${allowed.join(', ')}`,
    },
    ...(folder === 'data'
      ? []
      : [{ regex: '/generated/', allowTypeImports: true, message: 'data/ calls the clients' }]),
    { regex: `^(\\.\\./){3,}(${ofTheServer.join('|')})(/|$)`, message: 'nothing of the server' },
    { regex: `^(\\.\\./){2,}(${besideProgram.join('|')})(/|$)`, message: 'nothing beside the program' },
    ...(folder === 'pages' ? [{ regex: '^\\.\\./[a-z]', message: 'a page imports no other page' }] : []),
  ]
  return {
    files: [`console/app/${folder}/**/*.{ts,tsx}`],
    rules: { 'typescript/no-restricted-imports': ['error', { patterns }] },
  }
})

/** The rules of typescript-eslint's set `recommendedTypeChecked`. `no-floating-promises` finds SQL that never runs. */
const recommended = [
  'no-var',
  'prefer-const',
  'prefer-rest-params',
  'prefer-spread',
  'typescript/await-thenable',
  'typescript/ban-ts-comment',
  'typescript/no-array-constructor',
  'typescript/no-array-delete',
  'typescript/no-base-to-string',
  'typescript/no-duplicate-enum-values',
  'typescript/no-duplicate-type-constituents',
  'typescript/no-empty-object-type',
  'typescript/no-explicit-any',
  'typescript/no-extra-non-null-assertion',
  'typescript/no-floating-promises',
  'typescript/no-for-in-array',
  'typescript/no-implied-eval',
  'typescript/no-misused-new',
  'typescript/no-misused-promises',
  'typescript/no-namespace',
  'typescript/no-non-null-asserted-optional-chain',
  'typescript/no-redundant-type-constituents',
  'typescript/no-require-imports',
  'typescript/no-this-alias',
  'typescript/no-unnecessary-type-assertion',
  'typescript/no-unnecessary-type-constraint',
  'typescript/no-unsafe-argument',
  'typescript/no-unsafe-assignment',
  'typescript/no-unsafe-call',
  'typescript/no-unsafe-declaration-merging',
  'typescript/no-unsafe-enum-comparison',
  'typescript/no-unsafe-function-type',
  'typescript/no-unsafe-member-access',
  'typescript/no-unsafe-return',
  'typescript/no-unsafe-unary-minus',
  'typescript/no-unused-expressions',
  'typescript/no-unused-vars',
  'typescript/no-wrapper-object-types',
  'typescript/only-throw-error',
  'typescript/prefer-as-const',
  'typescript/prefer-namespace-keyword',
  'typescript/prefer-promise-reject-errors',
  'typescript/require-await',
  'typescript/restrict-plus-operands',
  'typescript/restrict-template-expressions',
  'typescript/triple-slash-reference',
  'typescript/unbound-method',
]

const rules = {
  ...Object.fromEntries(recommended.map((rule) => [rule, 'error'])),
  'typescript/switch-exhaustiveness-check': 'error',
  'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
  'max-lines-per-function': ['error', { max: 70, skipComments: true, skipBlankLines: true }],
  'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
}

export default {
  plugins: ['typescript'],
  options: { typeAware: true, typeCheck: true },
  categories: { correctness: 'off' },
  ignorePatterns: ['dist', 'dist-*', '.tap', '.cache', '**/*.js', '**/*.mjs'],
  rules,
  overrides: [
    // A test is a closure in a closure; node:test-like callbacks are awaited by the runner.
    {
      files: ['test/**/*.ts', 'bench/**/*.ts'],
      rules: { 'max-lines-per-function': 'off', 'typescript/no-floating-promises': 'off' },
    },
    // In generated code only types and imports are checked.
    {
      files: ['generated/**', 'test/codegen/golden/**'],
      rules: Object.fromEntries(Object.keys(rules).map((rule) => [rule, 'off'])),
    },
    ...direction,
    ...inConsole,
  ],
}
