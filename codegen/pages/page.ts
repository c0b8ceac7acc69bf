/** The documentation's pages, their paths, and how one page links to another. */

export type PageKind = 'start' | 'surface' | 'guide' | 'operation' | 'webhook' | 'channel' | 'schema' | 'error'

export type Page = {
  /** The path in the documentation's folder, without extension: platform/operation-createAgent. */
  path: string
  kind: PageKind
  title: string
  /** The title for the folder above the page: Platform API. Empty for pages at the top. */
  parent: string
  summary: string
  /** Words by which the search finds the page, beside its title. */
  words: string
  /** The whole page in Markdown, with one title. Links lead to other pages' `.md`. */
  text: string
}

/** The folder for guides, and the folder for the repository's files to which guides link. */
export const guidesFolder = 'guides'
export const filesFolder = 'files'

/**
 * Names a page's file. The name includes the kind, because some file systems do not distinguish `createAgent` and
 * `CreateAgent`.
 */
export const fileOf = (kind: PageKind, name: string) => `${kind}-${name}`

/** Links to a page in the same folder. */
export const linkTo = (kind: PageKind, name: string, text: string) => `[${text}](${fileOf(kind, name)}.md)`
