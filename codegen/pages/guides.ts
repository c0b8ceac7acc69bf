/**
 * Makes a page from each guide in docs/. A link to another guide stays. A link to a contract leads to the API's page,
 * and a link to another file in the repository to a copy beside the pages. A link to a folder or to a missing file
 * becomes plain text.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { firstSentence } from './markdown.ts'
import { filesFolder, guidesFolder, type Page } from './page.ts'

/** The list of the guides by subject. The start page has it. */
const listFile = 'README.md'
/** These files get no page: the list, and guides for people who work on this project. */
const left = new Set([listFile, 'glossary.md', 'requirements.md'])

export type Guides = {
  pages: Page[]
  /** The links to the guides by subject: sections in Markdown, as seen from the start page. */
  list: string
  /** The files to copy, as paths in the repository, by their paths in the documentation. */
  copies: Map<string, string>
}

/** `surfaces` are the APIs with pages, by name. */
export function readGuides(root: string, surfaces: ReadonlySet<string>): Guides {
  const copies: Guides['copies'] = new Map()
  const names = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md') && !left.has(name))
  const guides = new Set(names)
  const linkOf = (target: string) => linkFrom(target, { root, guides, surfaces, copies })
  const pages = names.sort().map((name) => {
    const text = readFileSync(path.join(root, 'docs', name), 'utf8')
    return guidePage(name, withLinks(text, linkOf))
  })
  return { pages, list: listFrom(root), copies }
}

/** Returns the list's sections, with their headings a level deeper. */
function listFrom(root: string): string {
  const text = readFileSync(path.join(root, 'docs', listFile), 'utf8')
  const sections = text.slice(text.indexOf('\n## ') + 1).replaceAll(/^## /gm, '### ')
  return sections.replaceAll(/\]\((\S+\.md)\)/g, `](${guidesFolder}/$1)`).trimEnd()
}

type Places = { root: string; guides: ReadonlySet<string>; surfaces: ReadonlySet<string>; copies: Guides['copies'] }

/** Returns the URL for a link in a guide: a page or a copied file. Null if the target is a folder or does not exist. */
function linkFrom(target: string, { root, guides, surfaces, copies }: Places): string | null {
  if (/^[a-z]+:|^#/.test(target)) return target
  const [name = '', ...fragments] = target.split('#')
  if (guides.has(name)) return target
  const file = path.posix.join('docs', name)
  const surface = /^specs\/(\w+)\.(openapi|asyncapi)\.yaml$/.exec(file)?.[1]
  if (surface !== undefined && surfaces.has(surface)) return `../${surface}/index.md`
  if (!existsSync(path.join(root, file)) || !statSync(path.join(root, file)).isFile()) return null
  const copy = `${filesFolder}/${file.replaceAll('/', '-')}${file.endsWith('.md') ? '.txt' : ''}`
  copies.set(copy, file)
  return fragments.length > 0 && !file.endsWith('.md') ? `../${copy}#${fragments.join('#')}` : `../${copy}`
}

function withLinks(text: string, linkOf: (target: string) => string | null): string {
  return text.replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g, (whole, words: string, target: string) => {
    const link = linkOf(target)
    return link === null ? words : link === target ? whole : `[${words}](${link})`
  })
}

function guidePage(name: string, text: string): Page {
  const body = text.replace(/^<!--.*?-->\s*/s, '')
  const [, title = name, rest = ''] = /^# ([^\n]*)\n+(.*)$/s.exec(body) ?? []
  return {
    path: `${guidesFolder}/${name.replace(/\.md$/, '')}`,
    kind: 'guide',
    title,
    parent: 'Guides',
    summary: firstSentence(rest),
    words: [...body.matchAll(/^##+ (.*)$/gm)].map(([, heading = '']) => heading).join(' '),
    text: body.trimEnd(),
  }
}
