/**
 * Makes the HTML of a page from its Markdown. No page has a style or script inside, so a strict content security policy
 * allows all pages.
 */
import { Marked, Renderer, type Tokens } from 'marked'
import { filesFolder, type Page } from './page.ts'

/** `root` is the path from the page to the documentation's folder, such as `../`, or empty. */
export function pageHtml(page: Page, root: string): string {
  const { path, parent, title } = page
  const file = path.split('/').at(-1) ?? ''
  const names = [title, ...(parent === '' ? [] : [parent]), ...(path === 'index' ? [] : ['Parley'])]
  const crumbs = [
    ...(path === 'index' ? [] : [`<a href="${root}index.html">Documentation</a>`]),
    ...(parent === '' ? [] : [parentLink(page, root)]),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(names.join(' · '))}</title>
<link rel="stylesheet" href="${root}style.css">
<link rel="alternate" type="text/markdown" href="${file}.md">
<script src="${root}search.js" defer></script>
</head>
<body>
<header>
<a class="skip" href="#main">To the content</a>
<nav aria-label="Place">${crumbs.join(' › ')}</nav>
<div id="search" data-root="${root}"></div>
</header>
<main id="main">
${bodyOf(page.text)}</main>
<footer><a href="${file}.md">This page as Markdown</a></footer>
</body>
</html>
`
}

/** The 404 page. Its links begin at the server's root, because the depth of the requested path is not known. */
export function missingHtml(): string {
  const text = '# Not found\n\nThe documentation has no page at this address. [All pages](index.md)'
  const page: Page = { path: '404', kind: 'start', title: 'Not found', parent: '', summary: '', words: '', text }
  return pageHtml(page, '/docs/')
    .replace(/<link rel="alternate".*\n/, '')
    .replace(/<footer>.*\n/, '')
    .replace('href="index.html"', 'href="/docs/index.html"')
}

function parentLink({ parent, kind }: Page, root: string): string {
  return kind === 'guide'
    ? `<a href="${root}index.html#guides">${parent}</a>`
    : `<a href="index.html">${escape(parent)}</a>`
}

/** marked's renderer, without our changes. */
const usual = new Renderer<string, string>()

function bodyOf(text: string): string {
  const slugs = new Map<string, number>()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const words = this.parser.parseInline(tokens, this.parser.textRenderer)
        return `<h${depth} id="${slugOf(words, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link(token) {
        return usual.link.call(this, { ...token, href: htmlLink(token.href) })
      },
      table(token) {
        const html = usual.table.call(this, token)
        // On a small screen the style sheet stacks the cells in these tables and hides the header row. The cells are
        // clear without it.
        return token.header[1]?.text === 'type' ? html.replace('<table>', '<table class="fields">') : html
      },
      // A header cell without text is useless for a screen reader, so it becomes an ordinary cell.
      tablecell(token) {
        return token.header && token.text === '' ? '<td></td>\n' : usual.tablecell.call(this, token)
      },
      // A text such as <key> in a description is not an HTML element, so it is escaped.
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag) =>
        /^<br ?\/?>$/.test(raw.trim()) ? '<br>' : raw.startsWith('<!--') ? '' : escape(raw),
    },
  })
  return marked.parse(text, { async: false })
}

/** Turns the link to a page's Markdown into the link to its HTML. */
function htmlLink(href: string): string {
  const isPage = !/^[a-z]+:/.test(href) && !href.includes(`${filesFolder}/`)
  return isPage ? href.replace(/\.md(?=#|$)/, '.html') : href
}

/** Makes a heading's fragment as GitHub does, because the guides are read there too. */
function slugOf(heading: string, slugs: Map<string, number>): string {
  const words = heading.replaceAll(/&(amp|lt|gt|quot|#39);/g, '').toLowerCase()
  const slug = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-')
  const earlier = slugs.get(slug)
  slugs.set(slug, (earlier ?? 0) + 1)
  return earlier === undefined ? slug : `${slug}-${earlier}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escape = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign)
