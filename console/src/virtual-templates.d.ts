declare module 'virtual:templates' {
  const templates: readonly import('./lib/samples/templates.ts').Template[];
  export default templates;
}
