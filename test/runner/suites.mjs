// Groups test files into suites: a folder's files, or a part of them if there are many, or several small neighbouring
// folders.
import { statSync } from 'node:fs'
import path from 'node:path'

/** The usual size of all sources in a suite. It lets suites take about the same time. */
const usualBytesMax = 130_000
/** Each file here gets a separate process, for the given reason. */
const apart = new Map([
  ['test/runtime/json-value.test.ts', 'it loads a package for the first time in its process'],
  ['test/http/unread-answers.test.ts', 'it measures the memory of its process'],
  [
    'test/vendors/deepgram/sdk.test.ts',
    'its SDK uses the fetch of Node, whose dispatcher undici replaces when it is loaded',
  ],
])

export function suitesOf(files, bytesMax = usualBytesMax) {
  const suites = []
  let bytes = 0
  for (const folder of new Set(files.map((file) => path.dirname(file)))) {
    const ofFolder = files.filter((file) => path.dirname(file) === folder)
    for (const part of partsOf(
      ofFolder.filter((file) => !apart.has(file)),
      bytesMax,
    )) {
      const last = suites.at(-1)
      if (last && bytes + bytesOf(part) <= bytesMax) {
        last.files.push(...part)
        if (!last.name.split(' ').includes(folder)) last.name += ` ${folder}`
        bytes += bytesOf(part)
      } else {
        suites.push({ name: folder, files: part })
        bytes = bytesOf(part)
      }
    }
  }
  const alone = files.filter((file) => apart.has(file))
  return [...suites, ...alone.map((file) => ({ name: file, files: [file] }))]
}

/** Divides the files into parts with about the same size. */
function partsOf(files, bytesMax) {
  const count = Math.ceil(bytesOf(files) / bytesMax)
  const parts = Array.from({ length: count }, () => [])
  const each = bytesOf(files) / count
  let bytes = 0
  for (const file of files) {
    parts[Math.min(count - 1, Math.floor(bytes / each))].push(file)
    bytes += statSync(file).size
  }
  return parts.filter((part) => part.length > 0)
}

function bytesOf(files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}
