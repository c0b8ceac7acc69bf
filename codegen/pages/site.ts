/**
 * Makes the documentation as a folder of files: each page as HTML and as Markdown, the search's index, llms.txt, the
 * style sheet and the script. All links between them are relative, so the folder works at any URL and without a server.
 *
 *   contracts ─┐
 *              ├─► pages (Markdown) ─┬─► NAME.md
 *   docs/*.md ─┘                     ├─► NAME.html
 *                                    └─► search.json, llms.txt
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { channelPage } from './channel-page.ts'
import type { Contract } from './contract.ts'
import { readGuides } from './guides.ts'
import { missingHtml, pageHtml } from './html.ts'
import { llmsText, startPage, surfacePage } from './index-pages.ts'
import { operationPage, webhookPage } from './operation-page.ts'
import type { Page } from './page.ts'
import { readContract } from './read-contract.ts'
import { errorPages, schemaPages } from './reference-pages.ts'
import { type Language, languagesIn } from './snippets.ts'

/**
 * Writes the documentation into `folder`. `contracts` are the bundled documents by API, in the order of the start page.
 * `root` is the repository.
 */
export function writeSite(folder: string, contracts: Readonly<Record<string, string>>, root: string): void {
  const surfaces = Object.entries(contracts).map(([name, text]) => readContract(name, text))
  const languages = languagesIn(root)
  const { pages: guides, list, copies } = readGuides(root, new Set(Object.keys(contracts)))
  const pages = [startPage(surfaces, list), ...guides, ...surfaces.flatMap((surface) => pagesOf(surface, languages))]
  for (const page of pages) {
    write(folder, `${page.path}.md`, `${page.text}\n`)
    write(folder, `${page.path}.html`, pageHtml(page, page.path.includes('/') ? '../' : ''))
  }
  write(folder, '404.html', missingHtml())
  write(folder, 'search.json', searchIndex(pages))
  write(folder, 'llms.txt', llmsText(pages))
  for (const [copy, file] of copies) copyTo(folder, copy, path.join(root, file))
  for (const asset of ['style.css', 'search.js']) copyTo(folder, asset, path.join(root, 'console/docs', asset))
}

function pagesOf(contract: Contract, languages: readonly Language[]): Page[] {
  return [
    surfacePage(contract),
    ...contract.operations.map((operation) => operationPage(contract, operation, languages)),
    ...contract.channels.map((channel) => channelPage(contract, channel, languages)),
    ...contract.webhooks.map((webhook) => webhookPage(contract, webhook)),
    ...errorPages(contract),
    ...schemaPages(contract),
  ]
}

/**
 * Returns a list for each page: path, title, kind, parent folder, search words. As JSON, lists are half as long as
 * objects.
 */
function searchIndex(pages: readonly Page[]): string {
  return JSON.stringify(pages.map(({ path, title, kind, parent, words }) => [path, title, kind, parent, words]))
}

function write(folder: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  writeFileSync(path.join(folder, name), text)
}

function copyTo(folder: string, name: string, source: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  copyFileSync(source, path.join(folder, name))
}
