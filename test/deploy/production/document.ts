/** The commands of docs/run-it.md: the blocks that open with ```sh and the name of a machine. */

export type MachineName = 'build-machine' | 'server'
export type Step = { section: string; machine: MachineName; commands: string }

/** In the order of the document. A block in a list is indented with its item. */
export function readSteps(document: string): Step[] {
  const sections = document.split(/^## /m)
  return sections.flatMap((text) => {
    const section = text.slice(0, text.indexOf('\n'))
    const blocks = text.matchAll(/^( *)```sh (build-machine|server)\n([\s\S]*?)^\1```$/gm)
    return [...blocks].map(([, indent = '', machine, commands = '']) => ({
      section,
      machine: machine as MachineName,
      commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }))
  })
}

/** Only these need a way to the Internet, which the network of the nodes does not have. */
export function downloads({ commands }: Step): boolean {
  return /\b(apt-get|npm|git) /.test(commands)
}
