import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'

type LinkButtonProps = { to: string; search?: LinkProps['search']; look?: 'plain' | 'main'; children: ReactNode }

/** Draws a link like a button, because the link starts an action on another page. */
export function LinkButton({ to, search, look = 'plain', children }: LinkButtonProps) {
  return (
    <Link to={to} {...(search !== undefined && { search })} className={classes(styles.button, styles[look])}>
      {children}
    </Link>
  )
}
