import { fileURLToPath } from 'node:url'

/** The sources are in folders beside package.json. A build puts all its files into one such folder. */
const packageFolder = new URL('../', import.meta.url)

/**
 * Returns the path of a folder that the build writes beside the program. Unbuilt sources have no such folder. `dist` is
 * not used, because while this build runs it may lead to a later one.
 */
export function buildFolder(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Locates a package file, such as `package.json`. */
export function packageFile(name: string): URL {
  return new URL(name, packageFolder)
}
