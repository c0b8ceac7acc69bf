/** Checks imports, in addition to the linter's rule about the direction between folders. */
import t from 'tap'
import ts from 'typescript'
import { circles, code, files, importsOf, parse, read } from './source.ts'

const imports = new Map(files.filter((file) => /\.tsx?$/.test(file)).map((file) => [file, importsOf(parse(file))]))
const ours = new Set(code)
const isProduct = (file: string) =>
  /^(app|audio|cli|conform|domain|generated|handlers|mock|providers|runtime|simulator|store)\//.test(file)
const folderOf = (file: string) => file.slice(0, file.lastIndexOf('/'))

const importsMax = 25
/** A file in app/ may import this many files, because app/ only joins the parts of the product. */
const importsMaxOfApp = 35

t.test(`no file imports more than ${importsMax} files, and no file in app/ over ${importsMaxOfApp}`, (t) => {
  const counted = [...imports].filter(([file]) => ours.has(file))
  const max = (file: string) => (file.startsWith('app/') ? importsMaxOfApp : importsMax)
  const crowded = counted.filter(([file, { length }]) => length > max(file))
  t.same(
    crowded.map(([file, { length }]) => `${file}: ${length}`),
    [],
  )
  t.end()
})

/** Files that may load a module when they need it, with the reason. */
const laterImports: readonly [file: RegExp, reason: string][] = [
  [/^(providers\/registry|runtime\/optional)\.ts$/, 'these load the optional dependencies'],
  [/^app\/commands\/actions\.ts$/, 'a command that only sends a request does not wait for the server to load'],
  [/^app\/gateway\.ts$/, 'it checks its answers only if it runs from sources, and the build leaves the checks out'],
  [/^bench\/decision\.ts$/, 'it loads the built program'],
  [/^console\/app\/pages\/call\/call-page\.tsx$/, 'few people replay a turn, so its code is loaded when it is opened'],
  [/^console\/app\/shell\/\w*-?routes\.tsx?$/, "a page's code is loaded when the page is first opened"],
]

t.test('modules are imported statically, and the exceptions have a reason', (t) => {
  const programs = code.filter((file) => /\.tsx?$/.test(file))
  const later = programs.filter((file) => importsLater(parse(file)))
  t.same(
    later.filter((file) => !laterImports.some(([exception]) => exception.test(file))),
    [],
  )
  for (const [exception, reason] of laterImports)
    t.ok(
      later.some((file) => exception.test(file)),
      reason,
    )
  t.end()
})

function importsLater(node: ts.Node): boolean {
  const isImport = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isImport || (ts.forEachChild(node, importsLater) ?? false)
}

t.test('imports form no cycle, and type imports are included', (t) => {
  t.same(circles(imports), [])
  const example = circles(
    new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]),
  )
  t.same(example, [['b', 'c']], 'a circle is found')
  t.end()
})

t.test('imports between folders form no cycle', (t) => {
  const folders = new Map<string, string[]>()
  for (const [file, all] of imports) {
    if (!isProduct(file)) continue
    const folder = folderOf(file)
    const others = all.filter(isProduct).map(folderOf)
    folders.set(folder, [...(folders.get(folder) ?? []), ...others.filter((other) => other !== folder)])
  }
  t.same(circles(folders), [])
  t.ok(folders.size > 60, `${folders.size} folders`)
  t.end()
})

/** The domain's folders in layers, the lowest first. A folder may import its layer and lower layers. */
const floors = [
  ['records/states'],
  ['ports'],
  ['records'],
  ['access', 'access/sign-in', 'billing', 'catalog', 'dispatch', 'health', 'idempotency', 'routing', 'streams'],
  ['agents', 'callbacks', 'llm', 'speech', 'speech/reading', 'transfers/settings', 'webhooks'],
  [
    ...['answering', 'tools', 'conversation', 'conversation/parts', 'conversation/words'],
    'conversation/words/languages',
    ...['conversation/hearing', 'conversation/speaking', 'conversation/turns', 'conversation/people'],
  ],
  ['calls', 'calls/live', 'numbers', 'phone', 'rmsg', 'sessions', 'sms', 'transfers', 'webhooks/trial'],
]

t.test('a folder of the domain imports only its own layer and lower layers', (t) => {
  const floorOf = (file: string) =>
    file === 'domain/operations.ts'
      ? floors.length
      : floors.findIndex((folders) => folders.includes(folderOf(file).replace('domain/', '')))
  const domain = [...imports].filter(([file]) => file.startsWith('domain/'))
  t.same(
    domain.map(([file]) => file).filter((file) => floorOf(file) < 0),
    [],
    'each folder has a floor',
  )
  const climbing = domain.flatMap(([file, all]) =>
    all.filter((to) => to.startsWith('domain/') && floorOf(to) > floorOf(file)).map((to) => `${file} → ${to}`),
  )
  t.same(climbing, [])
  t.end()
})

t.test('the handlers of one API import nothing from the handlers of another API', (t) => {
  const surfaceOf = (file: string) => /^handlers\/(router|compat|platform|realtime|internal)\//.exec(file)?.[1]
  const crossing = [...imports].flatMap(([file, all]) => {
    const surface = surfaceOf(file)
    return all
      .filter((to) => surface !== undefined && surfaceOf(to) !== undefined && surfaceOf(to) !== surface)
      .map((to) => `${file} → ${to}`)
  })
  t.same(crossing, [])
  t.end()
})

t.test('the domain contains no error code of an API, no JSON pointer and no vendor name', (t) => {
  const domain = [...imports].filter(([file]) => file.startsWith('domain/'))
  const codes = domain.flatMap(([file, all]) =>
    all.filter((to) => /^generated\/.*\/errors\.ts$/.test(to)).map((to) => `${file} → ${to}`),
  )
  t.same(codes, [])
  // `livekit` is also a transport in the contract, and `trunk` a kind of phone line, so the domain may name them.
  const vendors = new Set(
    files.flatMap(
      (file) =>
        /^providers\/(?!wire\/|oidc\/|smtp\/|local\/|loopback\/|catalog\/|vendors\/|livekit\/|trunk\/|simulated\/)([a-z]+)\//.exec(
          file,
        )?.[1] ?? [],
    ),
  )
  t.ok(vendors.has('deepgram'))
  const named = new RegExp(`\\b(${[...vendors].join('|')})\\b`, 'i')
  const pointer = /'\/[a-z_]+(\/[a-z_]+)*'/
  for (const [file] of domain) {
    const text = read(file)
    t.notMatch(text, named, `${file} names no vendor`)
    t.notMatch(text, pointer, `${file} has no JSON pointer`)
  }
  t.end()
})
