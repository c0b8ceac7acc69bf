/** The sources are in folders beside package.json. A build puts all its files into one such folder. */
const packageFolder = new URL('../', import.meta.url)

/** Locates a package file, such as `package.json`. */
export function packageFile(name: string): URL {
  return new URL(name, packageFolder)
}
