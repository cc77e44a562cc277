package main

type person struct{}

func (p *person) visit(string) {}
