/**
 * @file vISA text, the assembly language of Intel's GPU compilers
 * @license MIT OR Apache-2.0
 *
 * The grammar knows lines, names, numbers and brackets. Which mnemonics, types and modifiers there are is not repeated
 * here: the first word of an instruction is its mnemonic, whatever it is.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

/** Signs that stand between the words of an operand. */
const SIGNS = [".", ",", ";", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "$", "@", "<", ">", ":", "#"];

module.exports = grammar({
  name: "visa",

  extras: ($) => [/[ \t\r\f\uFEFF]/, /\\\r?\n/, $.comment, $.directive_comment],

  supertypes: ($) => [$.statement],

  rules: {
    source_file: ($) => seq(body($), repeat($.routine)),

    // A routine goes on to the next one.
    routine: ($) =>
      seq(
        field("kind", choice(".kernel", ".global_function")),
        field("name", $._name),
        repeat($._argument),
        optional(seq("\n", body($))),
      ),

    _item: ($) => choice("\n", seq($.statement, "\n"), $.scope),

    scope: ($) => seq("{", body($), "}"),

    statement: ($) => choice($.declaration, $.subroutine, $.directive, $.label, $.instruction),

    declaration: ($) =>
      seq(
        field("kind", choice(".decl", ".file_decl", ".label")),
        field("name", $._name),
        repeat($._argument),
      ),

    subroutine: ($) => seq(".function", field("name", $._name), repeat($._argument)),

    directive: ($) => seq(field("name", $.directive_name), repeat($._argument)),

    // The first word of a line is a label where a colon follows it.
    label: ($) => prec(1, seq(field("name", alias($._word, $.label_name)), ":")),

    instruction: ($) =>
      seq(optional($.predicate), field("mnemonic", alias($._word, $.mnemonic)), repeat($._operand)),

    predicate: ($) =>
      seq(
        "(",
        optional(choice("!", "+", "-", "~")),
        field("name", $.identifier),
        optional(seq(".", field("control", alias($.identifier, $.modifier)))),
        ")",
      ),

    // What stands after the name of a directive.
    _argument: ($) => choice($.property, $.attributes, $._atom, $.sign),

    property: ($) =>
      seq(field("key", $.identifier), "=", field("value", choice($._atom, $.alias, $.attributes, "-"))),

    alias: ($) => prec(1, seq("<", repeat(choice($._atom, $.sign)), ">")),

    attributes: ($) => seq("{", repeat(choice($.property, $._atom, $.sign)), "}"),

    _operand: ($) => choice($._atom, $.sign, "="),

    group: ($) => seq("(", repeat($._operand), ")"),

    index: ($) => seq("[", repeat($._operand), "]"),

    _atom: ($) => choice($.identifier, $.predefined, $.number, $.type, $.string, $.group, $.index),

    _name: ($) => choice($.identifier, $.predefined, $.string),

    sign: (_) => choice(...SIGNS),

    directive_name: (_) => /\.[A-Za-z_]\w*/,

    _word: (_) => /[A-Za-z_$@?][\w$@?.<>+-]*/,

    identifier: (_) => /#?[A-Za-z_]\w*/,

    predefined: (_) => /%[A-Za-z_]\w*/,

    number: (_) => /[0-9]\w*/,

    type: (_) => /:[A-Za-z][\w.]*/,

    // A string that is not closed ends with its line.
    string: (_) => /"([^"\\\n]|\\[^\n])*"?/,

    comment: (_) => token(choice(seq("//", /[^\n]*/), seq("/*", /[^*]*\*+([^/*][^*]*\*+)*/, "/"))),

    directive_comment: (_) => token(prec(1, seq("//@", /[^\n]*/))),
  },
});

/**
 * Lines; the last one may have no end.
 * @param {GrammarSymbols<string>} $
 */
function body($) {
  return seq(repeat($._item), optional($.statement));
}
