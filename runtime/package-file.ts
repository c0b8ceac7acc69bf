/** The sources are in folders beside package.json, as this one is. A build puts all of its files into one such folder. */
const packageFolder = new URL('../', import.meta.url)

/** The place of a file of the package, such as `package.json`. */
export function packageFile(name: string): URL {
  return new URL(name, packageFolder)
}
