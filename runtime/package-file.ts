import { fileURLToPath } from 'node:url'

/** The sources are in folders beside package.json. A build puts all its files into one such folder. */
const packageFolder = new URL('../', import.meta.url)

/**
 * Returns the path of a folder that the build writes beside the program. Unbuilt sources have no such folder. The path
 * does not go through the link `dist`, because the link may lead to a later build while this build still runs.
 */
export function buildFolder(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Locates a package file, such as `package.json`. */
export function packageFile(name: string): URL {
  return new URL(name, packageFolder)
}
