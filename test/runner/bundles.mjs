// Builds the test files of a run. If a process loads a thousand sources by tsx, it is busy for three seconds before its
// first test; with bundles for less than one second. A shared module is built and loaded once (`splitting`).
// `import.meta` keeps its meaning from each source, and `tap` is the current file's test (current-file.mjs).
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.resolve(import.meta.dirname, '../..')
const tapOfFile = pathToFileURL(path.join(import.meta.dirname, 'current-file.mjs')).href

/**
 * The product starts these programs from its folder. Without bundles each start would take half a second more of
 * processor time.
 */
const engines = 'providers/local'
const children = readdirSync(path.join(root, engines), { recursive: true }).filter((file) => file.endsWith('-child.ts'))
const startsChildren = path.join(root, engines, 'children/speech-engine-process.ts')

/** Returns the bundle's path in the folder of makeBundles(). */
export function bundleOf(file) {
  return file.replace(/\.ts$/, '.js')
}

/**
 * Builds the bundles. `folder` is inside the checkout, because a bundle imports packages. Rejects if a source has an
 * error, which is printed.
 */
export async function makeBundles(files, folder) {
  await build({
    absWorkingDir: root,
    entryPoints: [
      ...files.map((file) => ({ in: file, out: file.replace(/\.ts$/, '') })),
      ...children.map(entryOfChild),
    ],
    outdir: folder,
    outbase: '.',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    define: Object.fromEntries(Object.keys(constantsOf('')).map((name) => [`import.meta.${name}`, `source_${name}`])),
    plugins: [testOfFile, ownPlaces(path.resolve(root, folder))],
  })
}

/** Returns esbuild's entry for a child program. Its bundle is put beside the module that starts the child. */
function entryOfChild(file) {
  return { in: path.join(engines, file), out: path.join(engines, 'children', path.basename(file, '.ts')) }
}

const testOfFile = {
  name: 'the test of the file',
  setup({ onResolve }) {
    onResolve({ filter: /^tap$/ }, () => ({ path: tapOfFile, external: true }))
  },
}

/**
 * Gives each source its original folder as `import.meta`. The module that starts the child processes is an exception,
 * because it looks for them in the bundle's folder.
 */
const ownPlaces = (folder) => ({
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const place = file === startsChildren ? path.join(folder, bundleOf(path.relative(root, file))) : file
      const declared = Object.entries(constantsOf(place)).map(
        ([name, value]) => `const source_${name} = ${JSON.stringify(value)};`,
      )
      return { contents: declared.join('') + text, loader: 'ts' }
    })
  },
})

function constantsOf(file) {
  return { url: pathToFileURL(file).href, dirname: path.dirname(file), filename: file }
}
