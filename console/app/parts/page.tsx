import { type ReactNode, useEffect } from 'react'
import { type Command, CommandStrip } from './command-strip.tsx'
import styles from './page.module.css'

type PageProps = {
  title: string
  /** This sentence is below the title. */
  lead?: ReactNode
  actions?: ReactNode
  command?: Command
  children: ReactNode
}

/** Draws a page: the title, the actions, the content, and the same request as a line for curl. */
export function Page({ title, lead, actions, command, children }: PageProps) {
  useTitle(title)
  return (
    <>
      <header className={styles.header}>
        <div className={styles.words}>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
      {command && <CommandStrip command={command} />}
    </>
  )
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
}
