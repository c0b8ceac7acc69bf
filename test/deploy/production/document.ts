/** Reads the commands in docs/run-it.md: the blocks that open with ```sh and a machine's name. */

export type MachineName = 'build-machine' | 'server'
export type Step = { section: string; machine: MachineName; commands: string }

/** Returns the steps in document order. In a list, a block is indented with its item. */
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

/** True if a step needs the Internet, which the nodes' network does not have. */
export function downloads({ commands }: Step): boolean {
  return /\b(apt-get|npm|git) /.test(commands)
}
