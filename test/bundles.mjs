// Makes one file of each test and all that it imports: a process that loads a thousand sources is busy for three seconds
// before its first test, and with one file for less than one. `import.meta` keeps the meaning that it has in each source.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
/** Inside of the checkout, since a bundle imports packages. */
const folder = '.cache/test-bundles'

export function bundleOf(file) {
  return path.join(folder, file.replace(/\.ts$/, '.js'))
}

/** Rejects if a source has a mistake, which is printed. Another run in this checkout can be using its bundles, so none is removed. */
export async function makeBundles(files) {
  const folders = new Set(files.map((file) => path.dirname(file)))
  // One build of all would keep all of its output in memory.
  for (const one of folders)
    await build({
      absWorkingDir: root,
      entryPoints: files.filter((file) => path.dirname(file) === one),
      outdir: folder,
      outbase: '.',
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      define: Object.fromEntries(Object.keys(constantsOf('')).map((name) => [`import.meta.${name}`, `source_${name}`])),
      plugins: [ownPlaces],
    })
}

const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const constants = Object.entries(constantsOf(file))
      const declared = constants.map(([name, value]) => `const source_${name} = ${JSON.stringify(value)};`)
      return { contents: declared.join('') + text, loader: 'ts' }
    })
  },
}

function constantsOf(file) {
  return { url: pathToFileURL(file).href, dirname: path.dirname(file), filename: file }
}
