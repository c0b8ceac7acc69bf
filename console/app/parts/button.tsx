import type { ComponentProps } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'

type Look = { look?: 'plain' | 'main' | 'quiet' | 'alarm'; isSmall?: boolean }

/** Draws a button. A `quiet` button has no frame and stands beside a text. */
export function Button({ look = 'plain', isSmall = false, className, ...rest }: ComponentProps<'button'> & Look) {
  return (
    <button
      type="button"
      className={classes(styles.button, styles[look], isSmall && styles.small, className)}
      {...rest}
    />
  )
}
